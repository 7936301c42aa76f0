#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"

namespace skua::sim {

/// A subscribeRepos message before a host has numbered it (atproto.com/specs/sync): relay and PDS
/// send the same message with different seqs.
struct Message {
  /// The frame without the value of `seq`.
  Bytes bytes;
  /// The position of the value of `seq` in `bytes`; nothing: the message has none (#info).
  std::optional<std::size_t> seq_at;
  /// The account; empty for #info.
  std::string did;
  /// False: a dishonest message, which a verifying reader drops.
  bool honest = true;
};

/// The frame with its number.
Bytes numbered(const Message& message, std::int64_t seq);

}  // namespace skua::sim
