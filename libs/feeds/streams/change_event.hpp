#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace skua::streams {

/// A position of the change log outside of the database: `1-4711`. A cursor is the position of the
/// last change that a client has: the next one follows. 0: before the first change.
struct Position {
  std::int32_t timeline = 0;
  std::int64_t pos = 0;

  std::string text() const;

  friend bool operator==(const Position&, const Position&) = default;
};

/// Nothing: the text has another form, or the numbers are too large.
std::optional<Position> parse_position(std::string_view text);

/// A reference that a change adds (delta 1) or removes (-1); 0: the account has another record with
/// the same target.
struct EventReference {
  std::string role;
  std::int32_t delta = 0;
  /// The AT-URI of a record, or the DID of an account.
  std::string target;
};

/// A change of the change log with names instead of numbers, and with the present content of what
/// it changed. Never changes: any thread.
struct ChangeEvent {
  std::int32_t timeline = 0;
  std::int64_t pos = 0;
  /// When the change was committed.
  Timestamp at;
  /// The same in microseconds, but larger than that of the change before.
  std::int64_t time_us = 0;
  /// `record`, `account`, `handle`, `label` or `bootstrap`.
  std::string kind;
  /// `create`, `update` or `delete`.
  std::string op;
  /// The account; of a label its labeler; empty at the end of a bootstrap.
  std::string did;

  // Of a record.
  std::string collection;
  std::string rkey;
  std::string rev;
  std::string cid;
  std::vector<EventReference> references;
  /// JSON; empty: deleted or superseded.
  std::string record;
  /// A later change has replaced the record.
  bool is_superseded = false;
  /// False: nobody wanted the record when the change was read, so `record` is empty.
  bool is_read = true;

  // Of an account and a handle.
  std::optional<bool> active;
  std::string status;
  std::string handle;
  std::optional<bool> handle_valid;

  // Of a label, besides its first reference.
  std::string val;
  /// A JSON object with `cts`, `exp` and `cid`; empty: withdrawn.
  std::string label;

  /// About the memory that it uses.
  std::size_t bytes() const;
};

/// An event of `/changes` (docs/feeds.md).
std::string change_json(const ChangeEvent& event);

/// A message of Jetstream v1 `/subscribe`; nothing: Jetstream has no message for the change, or the
/// record is superseded. `time_us` is that of the message.
std::optional<std::string> jetstream_json(const ChangeEvent& event, std::int64_t time_us);

}  // namespace skua::streams
