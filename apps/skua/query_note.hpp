#pragma once

#include <string>
#include <vector>

#include "invocation.hpp"
#include "query_list.hpp"
#include "store/session.hpp"

namespace skua::cli {

/// Why an answer is incomplete, for people, and the commands that change this, to copy.
struct QueryNote {
  std::string text;
  std::vector<std::string> commands;
};

// All read the database that the query reads. Throw store::SqlError.

/// What the query needs (NamedQuery::needs) and the database does not have, or has in an old state.
std::vector<QueryNote> missing_needs(store::Session& session, const NamedQuery& query,
                                     const Invocation& invocation);

/// What Skua has not indexed yet: a bootstrap that has not ended, and what the sources have sent
/// since they were read for the last time.
std::vector<QueryNote> missing_work(store::Session& session, const Invocation& invocation);

/// What the filter and the retention keep out of the database, of the records that the transaction
/// has read so far. Inside the transaction of the query, after it.
std::vector<QueryNote> missing_records(store::Session& session, const NamedQuery& query,
                                       const Invocation& invocation);

/// What is not stored of the accounts and records that the arguments name. Throws
/// std::runtime_error, with the command to download it, for one that the database does not know.
/// Outside a transaction.
std::vector<QueryNote> missing_subjects(store::Session& session, const NamedQuery& query,
                                        const std::vector<std::string>& values,
                                        const Invocation& invocation);

}  // namespace skua::cli
