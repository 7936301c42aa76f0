#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"

namespace skua::streams {

// The functions of this file read the change log. Each runs short statements outside of a
// transaction, because a transaction would prevent the drop of partitions. All throw
// postgres::SqlError.

/// The part of the log that exists.
struct LogState {
  std::int32_t timeline = 0;
  /// The position of the oldest change.
  std::int64_t oldest = 0;
  /// The position of the next change.
  std::int64_t end = 0;
};

/// Reads which part of the log exists. Works for the role skua_reader too.
LogState read_log_state(postgres::Session& session);

/// Returns the position of the first block that was appended at this time or later; the end of the
/// log if there is none. If the clock of the server went back, several blocks qualify and any of
/// them is returned.
std::int64_t position_at(postgres::Session& session, const LogState& state, Timestamp time);

struct PageLimits {
  /// The maximum number of changes that are read.
  std::size_t changes = 1'000;
  /// The maximum number of changes that pass the filter.
  std::size_t events = 1'000;
  /// The maximum size of the JSON of records and messages in bytes. A single one may be larger.
  std::size_t bytes = 1024 * 1024;
};

/// The accounts whose changes a reader wants; by default all accounts.
struct PageAccounts {
  /// The reader wants the accounts of one lane: those whose number modulo `lanes` is `lane`.
  std::int32_t lane = 0;
  std::int32_t lanes = 1;
  /// The reader wants only this account.
  std::optional<AccountNumber> only = std::nullopt;
  /// The reader does not want these accounts. The list is sorted.
  std::vector<AccountNumber> without = {};

  bool has(AccountNumber account) const;
};

/// Consecutive changes of the log.
struct ChangePage {
  /// The changes that pass the filter.
  std::vector<std::shared_ptr<const ChangeEvent>> events;
  /// The position after the last change that was read.
  std::int64_t next = 0;
  /// The `time_us` of the last change that was read.
  std::int64_t time_us = 0;
};

/// Reads the changes from a position on that pass the filter, with messages, and with the records
/// in their present state. `time_us` is that of the change before. Returns nothing if the changes
/// at this position are no longer kept. At the end of the log the page is empty. The cost is
/// proportional to the records of the page: of the records that do not fit, few are read.
/// `reads_content` selects the changes whose record or message is read (ChangeEvent::is_read); null
/// selects all.
using ReadsContent = std::function<bool(const ChangeEvent&)>;
std::optional<ChangePage> read_page(postgres::Session& session, std::int32_t timeline,
                                    std::int64_t from, std::int64_t time_us,
                                    const ChangeFilter& filter, const PageLimits& limits,
                                    const PageAccounts& accounts = {},
                                    const ReadsContent& reads_content = nullptr);

}  // namespace skua::streams
