#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "atproto/sha256.hpp"
#include "base/account_number.hpp"
#include "base/time.hpp"
#include "ids/actor_ids.hpp"
#include "ids/id_cache.hpp"
#include "postgres/session.hpp"
#include "tables/record_key.hpp"

namespace skua::ids {

/// The number of rows from which COPY is faster than a statement. A COPY has a fixed cost.
inline constexpr std::size_t kWorthCopying = 50;

/// The text of a record key whose number does not determine the text, as a batch has it.
struct KeyText {
  std::string_view text;
  /// False if the text is only compared, as for a delete.
  bool insert = true;
};

/// The stored texts of record keys for which the batch has another text.
using KeyConflicts = std::map<tables::RecordKey, std::string>;

/// Compares the texts with `bsky.rkeys`, and inserts the texts of keys that are absent. On a node,
/// first lets the other nodes know the keys of their accounts. Call it outside of a transaction.
/// Throws postgres::SqlError, and may then be called again.
KeyConflicts store_key_texts(postgres::Session& session, const ActorNumbers::Scheme& scheme,
                             const std::map<tables::RecordKey, KeyText>& texts);

using PostClaims = Claims<KnownPosts::Key>;

/// A post that a record mentions, and the CID that the record has for it.
struct MentionedPost {
  KnownPosts::Key key;
  std::optional<atproto::Digest> cid;
};

/// Inserts a stub for each of these posts that has no row, with the CID as its first CID. Adds all
/// of them to `known`, with the first CIDs of their rows. `missing` is sorted by key and without
/// duplicates. `new_actors` is sorted. Posts of `new_actors` are not looked up unless an insert
/// conflicts with a row. Call it outside of a transaction, because the rows must be committed
/// before a post is known. Throws postgres::SqlError, and may then be called again.
void insert_post_stubs(postgres::Session& session, KnownPosts& known, PostClaims& claims,
                       std::span<const MentionedPost> missing,
                       std::span<const AccountNumber> new_actors, Timestamp now);

}  // namespace skua::ids
