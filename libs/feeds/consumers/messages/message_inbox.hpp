#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "postgres/session.hpp"

namespace skua::consumers {

/// The own messages that are committed and not in the change log yet (skua.message_inbox).
struct InboxState {
  /// The number of messages, counted up to `kMostCounted`.
  std::int64_t waiting = 0;
  /// The age of the message with the smallest number, by the server's clock; 0 if none waits.
  std::chrono::milliseconds oldest{0};
  /// True if the indexes of a bootstrap are missing. Messages wait then.
  bool waits_for_bootstrap = false;

  static constexpr std::int64_t kMostCounted = 100'000;
};

/// Reads the state. Needs only the rights of skua_reader. Throws postgres::SqlError.
InboxState read_inbox(postgres::Session& session);

/// Returns the highest number of a message that waits; nothing if none waits. Throws
/// postgres::SqlError.
std::optional<std::int64_t> newest_waiting_message(postgres::Session& session);

/// Returns whether a message up to this number waits. Throws postgres::SqlError.
bool has_waiting_message(postgres::Session& session, std::int64_t newest);

/// Returns the number of the messages and the age of the oldest one, for people. Pure.
std::string inbox_text(const InboxState& inbox);

/// Returns whether messages have waited for a minute or longer, so that a person must act
/// (`messages-waiting`). A sequencer moves a message within a second, and a bootstrap has a problem
/// of its own. Pure.
bool is_undrained(const InboxState& inbox);

}  // namespace skua::consumers
