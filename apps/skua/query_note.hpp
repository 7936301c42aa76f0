#pragma once

#include <string>
#include <vector>

#include "invocation.hpp"
#include "postgres/session.hpp"
#include "query_list.hpp"

namespace skua::cli {

/// Tells the user why an answer is incomplete, and which commands change this. The commands can be
/// copied.
struct QueryNote {
  std::string text;
  std::vector<std::string> commands;
};

/// The functions print notes to stderr, unless `--quiet` suppresses them.
void print_note(const QueryNote& note);
void print_notes(const std::vector<QueryNote>& notes);

// All following functions read the database of the query, and throw postgres::SqlError. Some need
// to know whether it is a query database.

/// Returns notes about the needs of the query (NamedQuery::needs) that are missing from the
/// database, or that the database has in an old state. An index for popular subjects is needed if
/// the subject of `values`, the arguments of the query, has very many records.
std::vector<QueryNote> missing_needs(postgres::Session& session, bool is_query_database,
                                     const NamedQuery& query,
                                     const std::vector<std::string>& values,
                                     const Invocation& invocation);

/// Returns notes about conditions of a SELECT statement that read a whole table
/// (bsky.slow_conditions). The statement is not run.
std::vector<QueryNote> slow_conditions(postgres::Session& session, const std::string& sql);

/// Returns notes about content that Skua has not indexed yet: the rest of an open bootstrap, and
/// the events that the sources have sent since they were last read.
std::vector<QueryNote> missing_work(postgres::Session& session, bool is_query_database,
                                    const Invocation& invocation);

/// Returns notes about the filter and the retention, if they limit the tables that the transaction
/// has read so far. To be called inside the transaction of the query, after the query.
std::vector<QueryNote> missing_records(postgres::Session& session, const NamedQuery& query,
                                       const Invocation& invocation);

/// Returns notes about the accounts and records of the arguments whose content is not stored in
/// full. If the database does not know one of them, throws std::runtime_error with the command that
/// downloads it. To be called outside of a transaction.
std::vector<QueryNote> missing_subjects(postgres::Session& session, const NamedQuery& query,
                                        const std::vector<std::string>& values,
                                        const Invocation& invocation);

}  // namespace skua::cli
