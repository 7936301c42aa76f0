#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// An account that was deleted, and the newest revision that it had then.
struct Purge {
  std::string did;
  std::int32_t actor_id = 0;
  atproto::Tid floor;
  /// When that was said: labels have no revision.
  Timestamp said_at = {};
};

/// Deletes all records of an account up to its minimum revision, and its labels up to its deletion,
/// from every table. The minimum revision must be committed first: then no older event is accepted,
/// and newer rows stay in any order. Idempotent: an interrupted purge may begin again. Used by one
/// thread at a time.
class AccountPurge {
 public:
  /// Without rows the purge is done at once.
  explicit AccountPurge(Purge purge, bool has_rows = true);

  /// Deletes up to kRowsOfRemoval rows of one table in a transaction, with the account's locks, for
  /// which it waits. Outside a transaction. Returns the number of rows. Throws store::SqlError, and
  /// may then be called again.
  std::size_t step(store::Session& session);
  bool is_done() const;
  /// The number of rows of all steps.
  std::size_t rows() const { return rows_; }

 private:
  Purge purge_;
  /// The number of the table that the next step reads.
  int table_;
  std::size_t rows_ = 0;
};

/// Does all steps of a purge. Returns the number of rows.
std::size_t purge_account(store::Session& session, const Purge& purge);

/// For an account whose host confirms a deletion that the stream reported earlier: raises the
/// minimum revision to the time of that report, or to the newest revision that is known, if this is
/// later. Waits for the account's locks. Outside a transaction. Returns the purge that then has to
/// follow; nothing if the stored status of the account is not `deleted`. Throws store::SqlError.
std::optional<AccountPurge> confirm_deletion(store::Session& session, const std::string& did);

}  // namespace skua::writer
