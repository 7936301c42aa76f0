#include "resolve/post_stubs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "resolve/post_stubs.sql.hpp"
#include "resolve/worth_copying.hpp"
#include "store/sqlstate.hpp"

namespace skua::resolve {
namespace {

using store::Array;
using Key = KnownPosts::Key;

store::Params keys_of(std::span<const Key> posts) {
  Array actors(Array::Type::int8);
  Array rkeys(Array::Type::int8);
  for (const Key& key : posts) {
    actors.int8(key.actor_id);
    rkeys.int8(key.rkey);
  }
  store::Params params;
  params.array(actors).array(rkeys);
  return params;
}

/// Which of the posts have a row; those of `new_actors` are not looked for.
std::vector<bool> find(store::Session& session, KnownPosts& known, std::span<const Key> posts,
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
  const store::Rows found = session.execute(sql::posts_find, keys_of(asked));
  if (asked.size() >= kWorthCopying) known.looked_up(!found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    is_there[places.at(static_cast<std::size_t>(found.int8(i, 0)))] = true;
  }
  return is_there;
}

/// Appends those that have no row. False: one has one after all, from another process or the post
/// itself at this moment, and none was appended.
bool copy_absent(store::Session& session, KnownPosts& known, std::span<const Key> posts,
                 std::span<const AccountNumber> new_actors, Timestamp now) {
  const std::vector<bool> is_there = known.seems_complete()
                                         ? std::vector<bool>(posts.size())
                                         : find(session, known, posts, new_actors);
  store::CopyRows rows(4);
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
  } catch (const store::DataError& error) {
    if (error.sqlstate() != store::kUniqueViolation) throw;
    known.looked_up(true);
    return false;
  }
  return true;
}

void insert(store::Session& session, KnownPosts& known, std::span<const Key> posts,
            std::span<const AccountNumber> new_actors, Timestamp now) {
  if (posts.size() >= kWorthCopying && copy_absent(session, known, posts, new_actors, now)) return;
  store::Params params = keys_of(posts);
  params.timestamp(now);
  session.execute(sql::posts_insert_stubs, params);
}

}  // namespace

void insert_post_stubs(store::Session& session, KnownPosts& known, PostClaims& claims,
                       std::span<const Key> missing, std::span<const AccountNumber> new_actors,
                       Timestamp now) {
  std::vector<Key> wanted(missing.begin(), missing.end());
  while (!wanted.empty()) {
    std::vector<Key> others;
    {
      const PostClaims::Held held(claims, wanted);
      others = held.others();
      // Another thread may have had them before they were claimed.
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

}  // namespace skua::resolve
