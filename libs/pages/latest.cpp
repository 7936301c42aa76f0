#include "pages/latest.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "base/utf8.hpp"

namespace skua::pages {
namespace {

using nlohmann::json;

/// Of an error, in characters.
constexpr std::size_t kLongestError = 500;

// Without the index it would sort the table.
const store::Statement kPosts{
    "latest_posts",
    "SELECT p.sort_at, coalesce(a.handle, a.did), left(p.text, 300), 'at://' || a.did || "
    "'/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) FROM (SELECT t.actor_id, "
    "t.rkey, t.text, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts AS t WHERE t.cid "
    "IS NOT NULL AND NOT EXISTS (SELECT FROM skua.dropped_indexes) ORDER BY least(t.created_at, "
    "t.indexed_at) DESC LIMIT 12) AS p JOIN bsky.actors AS a ON a.id = p.actor_id WHERE a.active "
    "IS NOT FALSE ORDER BY p.sort_at DESC"};

// Of the newest letters only: the table may be large, and this has an index.
const store::Statement kLetters{
    "latest_letters",
    "SELECT l.id, l.last_at, l.did, l.origin, l.status, l.error FROM (SELECT d.id, d.last_at, "
    "d.did, CASE WHEN d.pos IS NULL THEN coalesce(d.source, '') ELSE d.consumer END AS origin, "
    "d.status, d.error FROM skua.dead_letter AS d ORDER BY d.id DESC LIMIT 1000) AS l WHERE "
    "l.status IN ('dead', 'requested', 'replaying') ORDER BY l.last_at DESC, l.id DESC LIMIT 20"};

json latest_posts(store::Session& session) {
  const store::Rows rows = session.execute(kPosts, {});
  json posts = json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    posts.push_back({{"at", format_datetime(rows.timestamp(i, 0))},
                     {"name", std::string(rows.text(i, 1))},
                     {"text", std::string(rows.text_or_null(i, 2).value_or(""))},
                     {"uri", std::string(rows.text(i, 3))}});
  }
  return posts;
}

json latest_letters(store::Session& session) {
  const store::Rows rows = session.execute(kLetters, {});
  json letters = json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    letters.push_back({{"id", rows.int8(i, 0)},
                       {"at", format_datetime(rows.timestamp(i, 1))},
                       {"did", std::string(rows.text_or_null(i, 2).value_or(""))},
                       {"origin", std::string(rows.text(i, 3))},
                       {"status", std::string(rows.text(i, 4))},
                       {"error", printable(rows.text(i, 5), kLongestError)}});
  }
  return letters;
}

}  // namespace

json read_latest(store::Session& session) {
  return {{"posts", latest_posts(session)}, {"dead_letters", latest_letters(session)}};
}

}  // namespace skua::pages
