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

// Reads the change log. Each function runs short statements outside of a transaction, so that it
// does not keep partitions from being dropped. All throw postgres::SqlError.

/// Which part of the log exists.
struct LogState {
  std::int32_t timeline = 0;
  /// The position of the oldest change.
  std::int64_t oldest = 0;
  /// The position of the next change.
  std::int64_t end = 0;
};

/// Works for the role skua_reader too.
LogState read_log_state(postgres::Session& session);

/// The position of the first block that was appended at this time or later; the end of the log if
/// there is none. If the clock of the server went back, it is one of several.
std::int64_t position_at(postgres::Session& session, const LogState& state, Timestamp time);

struct PageLimits {
  /// The most changes that are read.
  std::size_t changes = 1'000;
  /// The most changes that pass the filter.
  std::size_t events = 1'000;
  /// The size of the records' JSON. One record may be larger.
  std::size_t bytes = 1024 * 1024;
};

/// The accounts whose changes a reader wants; by default all.
struct PageAccounts {
  /// The accounts of one lane: the number of the account modulo `lanes`.
  std::int32_t lane = 0;
  std::int32_t lanes = 1;
  /// This account only.
  std::optional<AccountNumber> only = std::nullopt;
  /// Not these accounts; sorted.
  std::vector<AccountNumber> without = {};

  bool has(AccountNumber account) const;
};

/// Successive changes.
struct ChangePage {
  /// The changes that pass the filter.
  std::vector<std::shared_ptr<const ChangeEvent>> events;
  /// The position after the last change that was read.
  std::int64_t next = 0;
  /// `time_us` of that change.
  std::int64_t time_us = 0;
};

/// The changes from a position on that pass the filter, with the records as they are now.
/// `time_us`: of the change before. Nothing: the changes at this position are no longer kept. At
/// the end of the log the page is empty. The cost follows from the records that the page has: of
/// those that do not fit, few are read. `reads_record`: the changes whose record is read
/// (ChangeEvent::is_read); null: all.
using ReadsRecord = std::function<bool(const ChangeEvent&)>;
std::optional<ChangePage> read_page(postgres::Session& session, std::int32_t timeline,
                                    std::int64_t from, std::int64_t time_us,
                                    const ChangeFilter& filter, const PageLimits& limits,
                                    const PageAccounts& accounts = {},
                                    const ReadsRecord& reads_record = nullptr);

}  // namespace skua::streams
