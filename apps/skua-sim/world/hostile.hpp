#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "atproto/signing.hpp"
#include "base/time.hpp"
#include "frames.hpp"
#include "network.hpp"

namespace skua::sim {

/// A copy of a commit's message with the one thing wrong that `kind` says; `key` is the account's
/// signing key of now. Nothing: this commit cannot be made wrong in that way (it has no record
/// whose bytes could be changed).
std::optional<Message> hostile_message(Hostility kind, CommitFrame commit,
                                       const atproto::SigningKey& key, Timestamp now);

/// A copy of a commit's message in the name of another account, with so many bytes more that
/// belong to no record.
Message commit_in_name_of(const std::string& did, std::size_t bytes, CommitFrame commit,
                          const atproto::SigningKey& key);

}  // namespace skua::sim
