#pragma once

#include <cstdint>
#include <span>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "resolve/claims.hpp"
#include "resolve/id_cache.hpp"
#include "store/session.hpp"

namespace skua::resolve {

using PostClaims = Claims<KnownPosts::Key>;

/// Gives each of these posts a row, a stub where it has none; `known` then has them. `missing` is
/// sorted and without doubles. Outside any transaction: rows are committed before a post is known.
/// Throws store::SqlError; may then be called again. Posts of `new_actors`, sorted, are taken to
/// have no row, and looked for only if that proves wrong.
void insert_post_stubs(store::Session& session, KnownPosts& known, PostClaims& claims,
                       std::span<const KnownPosts::Key> missing,
                       std::span<const AccountNumber> new_actors, Timestamp now);

}  // namespace skua::resolve
