#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "ids/id_cache.hpp"
#include "postgres/session.hpp"
#include "tables/record_key.hpp"

namespace skua::ids {

/// Fewer rows than these are written by a statement: a COPY has its price, too.
inline constexpr std::size_t kWorthCopying = 50;

/// The statement of a batch about a record key whose number does not determine its text.
struct KeyText {
  std::string_view text;
  /// False: only compared, as a delete does.
  bool insert = true;
};

/// Record keys whose stored text is another than the batch's, with the stored one.
using KeyConflicts = std::map<tables::RecordKey, std::string>;

/// Compares the texts with `bsky.rkeys` and inserts those that are absent. Outside any transaction.
/// Throws postgres::SqlError; may then be called again.
KeyConflicts store_key_texts(postgres::Session& session,
                             const std::map<tables::RecordKey, KeyText>& texts);

using PostClaims = Claims<KnownPosts::Key>;

/// Gives each of these posts a row, a stub where it has none; `known` then has them. `missing` is
/// sorted and without doubles. Outside any transaction: rows are committed before a post is known.
/// Throws postgres::SqlError; may then be called again. Posts of `new_actors`, sorted, are taken to
/// have no row, and looked for only if that proves wrong.
void insert_post_stubs(postgres::Session& session, KnownPosts& known, PostClaims& claims,
                       std::span<const KnownPosts::Key> missing,
                       std::span<const AccountNumber> new_actors, Timestamp now);

}  // namespace skua::ids
