#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace skua::streams {

/// A position of the change log as clients see it, such as `1-4711`. A cursor is the position of
/// the last change that a client has: the stream continues with the next change. 0 is the position
/// before the first change.
struct Position {
  std::int32_t timeline = 0;
  std::int64_t pos = 0;

  std::string text() const;

  friend bool operator==(const Position&, const Position&) = default;
};

/// Returns nothing if the text has another form, or the numbers are too large.
std::optional<Position> parse_position(std::string_view text);

/// A reference that a change adds (delta 1) or removes (delta -1). The delta is 0 if the account
/// has another record with the same target.
struct EventReference {
  std::string role;
  std::int32_t delta = 0;
  /// The AT-URI of a record, or the DID of an account.
  std::string target;
};

/// The content of an own message (skua.messages).
struct MessageContent {
  std::int64_t id = 0;
  std::string key;
  Timestamp enqueued_at;
  /// JSON.
  std::string payload;
  /// A JSON object.
  std::string headers;
};

/// A change of the change log with names instead of numbers, and with the present content of the
/// changed record, label or account. Immutable, so any thread may use it.
struct ChangeEvent {
  std::int32_t timeline = 0;
  std::int64_t pos = 0;
  /// When the change was committed.
  Timestamp at;
  /// The time of `at` in microseconds, increased if necessary so that it is larger than that of the
  /// change before.
  std::int64_t time_us = 0;
  /// A value of known_kinds().
  std::string kind;
  /// `create`, `update` or `delete`.
  std::string op;
  /// The DID of the account; of a label the DID of its labeler; empty for a message and at the end
  /// of a bootstrap.
  std::string did;

  // The following members describe a record.
  std::string collection;
  std::string rkey;
  std::string rev;
  std::string cid;
  std::vector<EventReference> references;
  /// The JSON of the record; empty if the record is deleted or superseded.
  std::string record;
  /// True if a later change has replaced the record.
  bool is_superseded = false;
  /// True in the event of a dead letter that is too large to keep the record, or the payload and
  /// the headers of a message. `record` is empty.
  bool omits_record = false;
  /// False if no reader wanted the change when it was read, so that `record` or `message` is empty.
  bool is_read = true;

  // The following members describe an account and a handle.
  std::optional<bool> active;
  std::string status;
  std::string handle;
  std::optional<bool> handle_valid;

  /// The topic of a message, and its content.
  std::string topic;
  std::optional<MessageContent> message;

  // The following members, and the first reference, describe a label.
  std::string val;
  /// A JSON object with `cts`, `exp` and `cid`; empty if the label is withdrawn.
  std::string label;

  /// Returns the size of the record or the message.
  std::size_t content_bytes() const;

  /// Returns approximately the memory that the event uses.
  std::size_t bytes() const;
};

/// Returns an event in the form of `/changes` (docs/feeds.md). `pos` is its position as text.
std::string change_json(const ChangeEvent& event, std::string_view pos);
/// The position is that of the log.
std::string change_json(const ChangeEvent& event);
/// Returns an event in the form of `/changes` with another position.
std::string with_position(std::string json, std::string_view pos);

/// Returns a message in the form of Jetstream v1 `/subscribe`; nothing if Jetstream has no message
/// for the change, or the record is superseded. `time_us` is the time in the message.
std::optional<std::string> jetstream_json(const ChangeEvent& event, std::int64_t time_us);

}  // namespace skua::streams
