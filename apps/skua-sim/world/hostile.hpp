#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "atproto/signing.hpp"
#include "base/time.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// Returns a copy of a commit's message with the one error that `kind` selects. `key` is the
/// account's current signing key. Returns nothing if this commit cannot have the error, for example
/// because it has no record whose bytes could be changed.
std::optional<Message> hostile_message(Hostility kind, CommitFrame commit,
                                       const atproto::SigningKey& key, Timestamp now);

/// Returns a copy of a commit's message in the name of another account, with `bytes` additional
/// bytes that belong to no record.
Message commit_in_name_of(const std::string& did, std::size_t bytes, CommitFrame commit,
                          const atproto::SigningKey& key);

}  // namespace skua::sim
