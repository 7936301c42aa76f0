#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "writer/table_writer.hpp"

namespace skua::writer {

/// Removes all records of an account and its labels from every table, and leaves no mark: the
/// account can be indexed again. A few thousand rows in a transaction, with the account's locks,
/// for which it waits. Outside a transaction. Idempotent. Returns the number of rows. Throws
/// store::SqlError, as all here.
std::size_t discard_account(store::Session& session, const std::string& did,
                            AccountNumber actor_id);

/// The same for one table, without the labels.
std::size_t discard_rows(store::Session& session, const TableWriter& table, const std::string& did,
                         AccountNumber actor_id);

/// The numbers of old rows that a question found.
struct ExpiredCounts {
  std::size_t in_table = 0;
  std::size_t in_records = 0;
};

/// Removes old rows of a collection: from `table`, its own table, which may be null, and from
/// `bsky.records`; from each at most as many as the question says. It takes the locks of their
/// accounts, for which it waits. In the caller's transaction, as its last statements but for
/// updates of the caller's own rows. Fewer rows than the limit: no more are there.
ExpiredCounts discard_expired(store::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question);

}  // namespace skua::writer
