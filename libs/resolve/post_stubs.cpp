#include "resolve/post_stubs.hpp"

#include <cstdint>
#include <vector>

#include "base/crash_point.hpp"
#include "resolve/worth_copying.hpp"
#include "store/sqlstate.hpp"

namespace skua::resolve {
namespace {

using store::Array;
using Key = KnownPosts::Key;

// No look-up before: the insert makes it itself, and unlike with accounts a conflict burns nothing.
const store::Statement kInsert{"posts_insert_stubs",
                               "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at) "
                               "SELECT actor_id, rkey, 0, $3::timestamptz "
                               "FROM unnest($1::int4[], $2::int8[]) AS k(actor_id, rkey) "
                               "ON CONFLICT (actor_id, rkey) DO NOTHING"};

const store::Statement kFind{
    "posts_find",
    "SELECT k.place - 1 FROM unnest($1::int4[], $2::int8[]) WITH ORDINALITY "
    "AS k(actor_id, rkey, place) CROSS JOIN LATERAL (SELECT FROM bsky.posts AS p "
    "WHERE p.actor_id = k.actor_id AND p.rkey = k.rkey OFFSET 0) AS p"};

store::Params keys_of(std::span<const Key> posts) {
  Array actors(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  for (const Key& key : posts) {
    actors.int4(key.actor_id);
    rkeys.int8(key.rkey);
  }
  store::Params params;
  params.array(actors).array(rkeys);
  return params;
}

/// Appends those that have no row. False: another process
/// was faster with one of them, and none was appended.
bool copy_absent(store::Session& session, std::span<const Key> posts, Timestamp now) {
  const store::Rows found = session.execute(kFind, keys_of(posts));
  std::vector<bool> is_there(posts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    is_there.at(static_cast<std::size_t>(found.int8(i, 0))) = true;
  }
  store::CopyRows rows(4);
  for (std::size_t i = 0; i < posts.size(); ++i) {
    if (is_there[i]) continue;
    rows.row();
    rows.int4(posts[i].actor_id);
    rows.int8(posts[i].rkey);
    rows.int8(0);
    rows.timestamp(now);
  }
  if (rows.empty()) return true;
  try {
    session.copy("bsky.posts", "actor_id, rkey, rev, indexed_at", rows);
  } catch (const store::DataError& error) {
    if (error.sqlstate() != store::kUniqueViolation) throw;
    return false;
  }
  return true;
}

void insert(store::Session& session, std::span<const Key> posts, Timestamp now) {
  if (posts.size() >= kWorthCopying && copy_absent(session, posts, now)) return;
  store::Params params = keys_of(posts);
  params.timestamp(now);
  session.execute(kInsert, params);
}

}  // namespace

void insert_post_stubs(store::Session& session, KnownPosts& known, PostClaims& claims,
                       std::span<const Key> missing, Timestamp now) {
  std::vector<Key> wanted(missing.begin(), missing.end());
  while (!wanted.empty()) {
    std::vector<Key> others;
    {
      const PostClaims::Held held(claims, wanted);
      others = held.others();
      if (!held.mine().empty()) {
        crash_point("before_post_stubs");
        insert(session, held.mine(), now);
        crash_point("after_post_stubs");
        for (const Key& key : held.mine()) known.insert(key);
      }
    }
    claims.wait_for(others);
    wanted.clear();
    for (const Key& key : others) {
      if (!known.contains(key)) wanted.push_back(key);
    }
  }
}

}  // namespace skua::resolve
