#include "ids/record_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "ids/record_keys.sql.hpp"
#include "postgres/sql_error.hpp"

namespace skua::ids {

namespace {

using postgres::column;
using tables::RecordKey;

using Texts = std::map<tables::RecordKey, KeyText>;

struct StoredText {
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
  std::string text;
};

postgres::Array key_column(const Texts& texts, auto member) {
  return column(texts, [=](const auto& entry) { return entry.first.*member; });
}

/// Removes the keys that are stored from `texts`. Adds the keys whose stored text differs to
/// `conflicts`.
void compare(postgres::Session& session, Texts& texts, KeyConflicts& conflicts) {
  if (texts.empty()) return;
  for (const auto& [actor_id, collection_id, rkey, stored] : session.query<StoredText>(
           sql::rkeys_find, key_column(texts, &RecordKey::actor_id),
           key_column(texts, &RecordKey::collection_id), key_column(texts, &RecordKey::rkey))) {
    const auto place = texts.find({actor_id, collection_id, rkey});
    if (stored != place->second.text) conflicts.emplace(place->first, stored);
    texts.erase(place);
  }
}

/// Lets the other nodes know the keys of their accounts.
void announce(postgres::Session& session, const ActorNumbers::Scheme& scheme, Texts texts) {
  if (!scheme.key) return;
  std::erase_if(texts,
                [&](const auto& entry) { return !scheme.is_of_other_node(entry.first.actor_id); });
  if (texts.empty()) return;
  session.execute(sql::rkeys_announce, key_column(texts, &RecordKey::actor_id),
                  key_column(texts, &RecordKey::collection_id), key_column(texts, &RecordKey::rkey),
                  column(texts, [](const auto& entry) { return entry.second.text; }),
                  scheme.groups.group_shift);
}

using Key = KnownPosts::Key;
using CidHash = KnownPosts::CidHash;
using Mentioned = std::span<const MentionedPost>;

// A reference to a member of a packed struct is not possible, so functions return the members.
AccountNumber actor_of(const MentionedPost& post) {
  return post.key.actor_id;
}
std::int64_t rkey_of(const MentionedPost& post) {
  return post.key.rkey;
}

CidHash hash_of(const std::optional<atproto::Digest>& cid) {
  return cid ? KnownPosts::hash_of(*cid) : KnownPosts::kNoCid;
}

/// A row of posts_find.
struct FoundPost {
  std::int64_t place;
  std::optional<atproto::Digest> first_cid;
};

/// A row of posts_insert_stubs.
struct InsertedStub {
  AccountNumber actor_id;
  std::int64_t rkey;
};

/// The first CIDs of the posts that have a row. No value: the post has no row, as far as is known.
using FirstCids = std::vector<std::optional<CidHash>>;

/// Looks for the rows of the posts at `places`.
void find(postgres::Session& session, Mentioned posts, const std::vector<std::size_t>& places,
          FirstCids& first_cids) {
  const auto of_post = [&](auto member) {
    return column(places, [&, member](std::size_t place) { return member(posts[place]); });
  };
  for (const auto& [place, first_cid] :
       session.query<FoundPost>(sql::posts_find, of_post(actor_of), of_post(rkey_of))) {
    first_cids.at(places.at(static_cast<std::size_t>(place))) = hash_of(first_cid);
  }
}

/// Looks for the rows of the posts. Does not look for posts of `new_actors`.
FirstCids find(postgres::Session& session, KnownPosts& known, Mentioned posts,
               std::span<const AccountNumber> new_actors) {
  FirstCids first_cids(posts.size());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (std::binary_search(new_actors.begin(), new_actors.end(), posts[i].key.actor_id)) continue;
    places.push_back(i);
  }
  if (places.empty()) return first_cids;
  find(session, posts, places, first_cids);
  if (places.size() >= kWorthCopying) {
    known.looked_up(std::any_of(first_cids.begin(), first_cids.end(),
                                [](const auto& found) { return found.has_value(); }));
  }
  return first_cids;
}

/// Appends rows for the posts that have none. Returns nothing and appends none if another process
/// inserted one of them at the same time.
std::optional<FirstCids> copy_absent(postgres::Session& session, KnownPosts& known, Mentioned posts,
                                     std::span<const AccountNumber> new_actors, Timestamp now) {
  FirstCids first_cids =
      known.seems_complete() ? FirstCids(posts.size()) : find(session, known, posts, new_actors);
  postgres::CopyRows rows(5);
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (first_cids[i]) continue;
    first_cids[i] = hash_of(posts[i].cid);
    rows.row();
    rows.int8(posts[i].key.actor_id);
    rows.int8(posts[i].key.rkey);
    rows.int8(0);
    rows.timestamp(now);
    posts[i].cid ? rows.bytea(*posts[i].cid) : rows.null();
  }
  if (rows.empty()) return first_cids;
  try {
    session.copy("bsky.posts", "actor_id, rkey, rev, indexed_at, first_cid", rows);
  } catch (const postgres::DataError& error) {
    if (error.sqlstate() != postgres::kUniqueViolation) throw;
    known.looked_up(true);
    return std::nullopt;
  }
  return first_cids;
}

/// Inserts the rows that are missing. Returns the first CIDs of all rows.
FirstCids insert(postgres::Session& session, KnownPosts& known, Mentioned posts,
                 std::span<const AccountNumber> new_actors, Timestamp now) {
  if (posts.size() >= kWorthCopying) {
    if (auto copied = copy_absent(session, known, posts, new_actors, now)) return *copied;
  }
  FirstCids first_cids(posts.size());
  for (const auto& [actor_id, rkey] : session.query<InsertedStub>(
           sql::posts_insert_stubs, column(posts, actor_of), column(posts, rkey_of), now,
           column(posts, &MentionedPost::cid))) {
    const auto place = static_cast<std::size_t>(
        std::lower_bound(posts.begin(), posts.end(), Key{actor_id, rkey},
                         [](const MentionedPost& post, const Key& key) { return post.key < key; }) -
        posts.begin());
    first_cids.at(place) = hash_of(posts[place].cid);
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (!first_cids[i]) others.push_back(i);
  }
  if (!others.empty()) find(session, posts, others, first_cids);
  return first_cids;
}

}  // namespace

KeyConflicts store_key_texts(postgres::Session& session, const ActorNumbers::Scheme& scheme,
                             const Texts& texts) {
  KeyConflicts conflicts;
  Texts absent = texts;
  compare(session, absent, conflicts);
  std::erase_if(absent, [](const auto& entry) { return !entry.second.insert; });
  if (!absent.empty()) {
    announce(session, scheme, absent);
    const postgres::Rows inserted = session.execute(
        sql::rkeys_insert, key_column(absent, &RecordKey::actor_id),
        key_column(absent, &RecordKey::collection_id), key_column(absent, &RecordKey::rkey),
        column(absent, [](const auto& entry) { return entry.second.text; }));
    // If fewer rows were inserted than given, another session has inserted the other keys since the
    // look-up.
    if (inserted.affected() < absent.size()) {
      compare(session, absent, conflicts);
    }
  }
  return conflicts;
}

void insert_post_stubs(postgres::Session& session, KnownPosts& known, PostClaims& claims,
                       Mentioned missing, std::span<const AccountNumber> new_actors,
                       Timestamp now) {
  std::vector<MentionedPost> wanted(missing.begin(), missing.end());
  while (!wanted.empty()) {
    std::vector<Key> others;
    {
      std::vector<Key> keys;
      keys.reserve(wanted.size());
      for (const MentionedPost& post : wanted) keys.push_back(post.key);
      const PostClaims::Held held(claims, keys);
      others = held.others();
      // Another thread may have inserted some of the posts before this thread claimed them.
      std::vector<MentionedPost> mine;
      auto next = wanted.begin();
      for (const Key& key : held.mine()) {
        next = std::find_if(next, wanted.end(),
                            [&](const MentionedPost& post) { return post.key == key; });
        if (!known.contains(key)) mine.push_back(*next);
      }
      if (!mine.empty()) {
        crash_point("before_post_stubs");
        const FirstCids first_cids = insert(session, known, mine, new_actors, now);
        crash_point("after_post_stubs");
        for (std::size_t i = 0; i < mine.size(); ++i) {
          known.insert(mine[i].key, first_cids[i].value_or(KnownPosts::kNoCid));
        }
      }
    }
    claims.wait_for(others);
    std::erase_if(wanted, [&](const MentionedPost& post) {
      return !std::binary_search(others.begin(), others.end(), post.key);
    });
  }
}

}  // namespace skua::ids
