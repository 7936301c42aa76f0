#include "ids/record_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

using Key = KnownPosts::Key;

// A reference to a member of a packed struct is not possible, so functions return the members.
AccountNumber actor_of(const Key& key) {
  return key.actor_id;
}
std::int64_t rkey_of(const Key& key) {
  return key.rkey;
}

/// Tells which of the posts have a row. Does not look for posts of `new_actors`.
std::vector<bool> find(postgres::Session& session, KnownPosts& known, std::span<const Key> posts,
                       std::span<const AccountNumber> new_actors) {
  std::vector<bool> is_there(posts.size());
  std::vector<Key> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (std::binary_search(new_actors.begin(), new_actors.end(), posts[i].actor_id)) continue;
    asked.push_back(posts[i]);
    places.push_back(i);
  }
  if (asked.empty()) return is_there;
  const auto found =
      session.query<std::int64_t>(sql::posts_find, column(asked, actor_of), column(asked, rkey_of));
  if (asked.size() >= kWorthCopying) known.looked_up(!found.empty());
  for (const std::int64_t place : found)
    is_there[places.at(static_cast<std::size_t>(place))] = true;
  return is_there;
}

/// Appends rows for the posts that have none. Returns false and appends none if another process
/// inserted one of them at the same time.
bool copy_absent(postgres::Session& session, KnownPosts& known, std::span<const Key> posts,
                 std::span<const AccountNumber> new_actors, Timestamp now) {
  const std::vector<bool> is_there = known.seems_complete()
                                         ? std::vector<bool>(posts.size())
                                         : find(session, known, posts, new_actors);
  postgres::CopyRows rows(4);
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (is_there[i]) continue;
    rows.row();
    rows.int8(posts[i].actor_id);
    rows.int8(posts[i].rkey);
    rows.int8(0);
    rows.timestamp(now);
  }
  if (rows.empty()) return true;
  try {
    session.copy("bsky.posts", "actor_id, rkey, rev, indexed_at", rows);
  } catch (const postgres::DataError& error) {
    if (error.sqlstate() != postgres::kUniqueViolation) throw;
    known.looked_up(true);
    return false;
  }
  return true;
}

void insert(postgres::Session& session, KnownPosts& known, std::span<const Key> posts,
            std::span<const AccountNumber> new_actors, Timestamp now) {
  if (posts.size() >= kWorthCopying && copy_absent(session, known, posts, new_actors, now)) return;
  session.execute(sql::posts_insert_stubs, column(posts, actor_of), column(posts, rkey_of), now);
}

}  // namespace

KeyConflicts store_key_texts(postgres::Session& session, const Texts& texts) {
  KeyConflicts conflicts;
  Texts absent = texts;
  compare(session, absent, conflicts);
  std::erase_if(absent, [](const auto& entry) { return !entry.second.insert; });
  if (!absent.empty()) {
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
                       std::span<const Key> missing, std::span<const AccountNumber> new_actors,
                       Timestamp now) {
  std::vector<Key> wanted(missing.begin(), missing.end());
  while (!wanted.empty()) {
    std::vector<Key> others;
    {
      const PostClaims::Held held(claims, wanted);
      others = held.others();
      // Another thread may have inserted some of the posts before this thread claimed them.
      std::vector<Key> mine;
      for (const Key& key : held.mine()) {
        if (!known.contains(key)) mine.push_back(key);
      }
      if (!mine.empty()) {
        crash_point("before_post_stubs");
        insert(session, known, mine, new_actors, now);
        crash_point("after_post_stubs");
        for (const Key& key : mine) known.insert(key);
      }
    }
    claims.wait_for(others);
    wanted = std::move(others);
  }
}

}  // namespace skua::ids
