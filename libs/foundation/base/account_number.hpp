#pragma once

#include <cstdint>

namespace skua {

/// The number that stands for an account in all tables (bsky.actors.id, docs/adr/0004). 0 stands
/// for no account.
using AccountNumber = std::int64_t;

}  // namespace skua
