#include "pages/latest.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/time.hpp"
#include "pages/latest.sql.hpp"

namespace skua::pages {
namespace {

using nlohmann::json;

/// The maximum length of an error, in characters.
constexpr std::size_t kLongestError = 500;

struct LatestPost {
  Timestamp at;
  std::string name;
  std::optional<std::string> text;
  std::string uri;
};

struct LatestLetter {
  std::int64_t id;
  Timestamp at;
  std::string did;
  std::string origin;
  std::string status;
  std::string error;
};

json latest_posts(postgres::Session& session) {
  json posts = json::array();
  for (const LatestPost& post : session.query<LatestPost>(sql::latest_posts)) {
    posts.push_back({{"at", format_datetime(post.at)},
                     {"name", post.name},
                     {"text", post.text.value_or("")},
                     {"uri", post.uri}});
  }
  return posts;
}

json latest_letters(postgres::Session& session) {
  json letters = json::array();
  for (const LatestLetter& letter : session.query<LatestLetter>(sql::latest_letters)) {
    letters.push_back({{"id", letter.id},
                       {"at", format_datetime(letter.at)},
                       {"did", letter.did},
                       {"origin", letter.origin},
                       {"status", letter.status},
                       {"error", printable(letter.error, kLongestError)}});
  }
  return letters;
}

}  // namespace

json read_latest(postgres::Session& session) {
  return {{"posts", latest_posts(session)}, {"dead_letters", latest_letters(session)}};
}

}  // namespace skua::pages
