#pragma once

#include <string>
#include <vector>

#include "invocation.hpp"
#include "postgres/session.hpp"
#include "query_list.hpp"

namespace skua::cli {

/// Explains to the user why an answer is incomplete, and has the commands that change this, ready
/// to copy.
struct QueryNote {
  std::string text;
  std::vector<std::string> commands;
};

// All read the database that the query reads. Throw postgres::SqlError.

/// Notes about the needs of the query (NamedQuery::needs) that the database does not have, or has
/// in an old state.
std::vector<QueryNote> missing_needs(postgres::Session& session, const NamedQuery& query,
                                     const Invocation& invocation);

/// Notes about content that Skua has not indexed yet: that of an open bootstrap, and the events
/// that the sources have sent since they were last read.
std::vector<QueryNote> missing_work(postgres::Session& session, const Invocation& invocation);

/// Notes about the filter and the retention, if they limit the tables that the transaction has read
/// so far. Call it inside the transaction of the query, after it.
std::vector<QueryNote> missing_records(postgres::Session& session, const NamedQuery& query,
                                       const Invocation& invocation);

/// Notes about the accounts and records of the arguments whose content is not stored in full. If
/// the database does not know one of them, throws std::runtime_error with the command to download
/// it. Call it outside of a transaction.
std::vector<QueryNote> missing_subjects(postgres::Session& session, const NamedQuery& query,
                                        const std::vector<std::string>& values,
                                        const Invocation& invocation);

}  // namespace skua::cli
