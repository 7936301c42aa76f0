#include "pages/latest.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "base/utf8.hpp"
#include "pages/latest.sql.hpp"

namespace skua::pages {
namespace {

using nlohmann::json;

/// Of an error, in characters.
constexpr std::size_t kLongestError = 500;

json latest_posts(store::Session& session) {
  const store::Rows rows = session.execute(sql::latest_posts, {});
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
  const store::Rows rows = session.execute(sql::latest_letters, {});
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
