#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"

namespace skua::sim {

/// A subscribeRepos message before a host has numbered it (atproto.com/specs/sync): relay and PDS
/// send the same message, each under a seq of its own.
struct Message {
  /// The frame without the value of `seq`.
  Bytes bytes;
  /// Where the value of `seq` belongs in `bytes`; nothing: the message has none (#info).
  std::optional<std::size_t> seq_at;
  /// Whom it is about; empty for #info.
  std::string did;
  /// False: no honest host says it, and who checks what it is told drops it.
  bool honest = true;
};

/// The frame under its number.
Bytes numbered(const Message& message, std::int64_t seq);

}  // namespace skua::sim
