#include "pages/latest.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "store/dead_letter_table.hpp"

namespace skua::pages {
namespace {

using nlohmann::json;

constexpr std::size_t kLetters = 20;

// Without the index it would sort the table.
const store::Statement kPosts{
    "latest_posts",
    "SELECT p.sort_at, coalesce(a.handle, a.did), left(p.text, 300), 'at://' || a.did || "
    "'/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey) FROM (SELECT t.actor_id, "
    "t.rkey, t.text, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts AS t WHERE t.cid "
    "IS NOT NULL AND NOT EXISTS (SELECT FROM skua.dropped_indexes) ORDER BY least(t.created_at, "
    "t.indexed_at) DESC LIMIT 12) AS p JOIN bsky.actors AS a ON a.id = p.actor_id WHERE a.active "
    "IS NOT FALSE ORDER BY p.sort_at DESC"};

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
  using store::LetterStatus;
  const store::LetterFilter filter{
      .statuses = {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying}};
  json letters = json::array();
  for (const store::LetterRow& letter : store::list_letters(session, filter, kLetters)) {
    letters.push_back({{"id", letter.id},
                       {"at", format_datetime(letter.last_at)},
                       {"did", letter.did},
                       {"origin", letter.change ? letter.consumer : letter.source.value_or("")},
                       {"status", std::string(to_string(letter.status))},
                       {"error", letter.error}});
  }
  return letters;
}

}  // namespace

json read_latest(store::Session& session) {
  return {{"posts", latest_posts(session)}, {"dead_letters", latest_letters(session)}};
}

}  // namespace skua::pages
