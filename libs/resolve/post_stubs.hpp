#pragma once

#include <span>

#include "base/time.hpp"
#include "resolve/id_cache.hpp"
#include "store/session.hpp"

namespace skua::resolve {

/// Gives each of these posts a row, a stub where it has none. `posts` is sorted and without
/// doubles. Outside any transaction. Throws store::SqlError; may then be called again.
void insert_post_stubs(store::Session& session, std::span<const KnownPosts::Key> posts,
                       Timestamp now);

}  // namespace skua::resolve
