#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "admin/action.hpp"
#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "backfill/letters/letter_replays.hpp"
#include "base/utf8.hpp"
#include "store/dead_letter_table.hpp"
#include "store/process_name.hpp"

namespace skua::admin {
namespace {

using http_server::Response;
using nlohmann::ordered_json;

/// A reason may be long.
constexpr std::size_t kMostText = 500;
/// Of letters that an operator finished here.
constexpr const char* kNote = "admin API";

using FinishLetters = std::vector<std::int64_t>(store::Session&, const store::LetterFilter&,
                                                std::string_view);

/// Refuses a request that names letters that do not exist, before anything changes.
void require_letters(store::Session& session, const std::vector<std::int64_t>& ids) {
  const auto known = store::letter_ids(session, {.ids = ids});
  std::vector<std::int64_t> missing;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(missing), [&](std::int64_t id) {
    return std::find(known.begin(), known.end(), id) == known.end();
  });
  if (missing.empty()) return;
  throw Refusal(
      404, "UnknownLetter",
      fmt::format("there is no letter {}: nothing was changed", fmt::join(missing, ", ")));
}

ordered_json entry(std::int64_t id, std::string_view result, std::string_view message) {
  ordered_json entry = {{"id", id}, {"result", result}};
  if (!message.empty()) entry["message"] = printable(message, kMostText);
  return entry;
}

Response response_of(const ordered_json& letters) {
  return {.body = ordered_json{{"letters", letters}}.dump() + "\n"};
}

Response finish_letters(store::Session& session, const Arguments& arguments, FinishLetters& finish,
                        std::string_view result) {
  require_letters(session, arguments.ids);
  const auto finished = finish(session, {.ids = arguments.ids}, kNote);
  ordered_json letters = ordered_json::array();
  for (const std::int64_t id : arguments.ids) {
    const bool is_finished = std::find(finished.begin(), finished.end(), id) != finished.end();
    letters.push_back(is_finished ? entry(id, result, {})
                                  : entry(id, "unchanged", store::unfinished_reason(session, id)));
  }
  return response_of(letters);
}

}  // namespace

Response replay_letters(store::Session& session, const Arguments& arguments) {
  require_letters(session, arguments.ids);
  if (backfill::bootstrap_is_open(session)) {
    throw Refusal(409, "BootstrapOpen",
                  "a bootstrap is not finished: `skua backfill --bootstrap` finishes it");
  }
  backfill::LetterReplays replays(session, store::process_name("skua admin"));
  ordered_json letters = ordered_json::array();
  for (const std::int64_t id : arguments.ids) {
    const backfill::ReplayedLetter replayed = replays.replay(id);
    letters.push_back(entry(id, to_string(replayed.end), replayed.text));
  }
  return response_of(letters);
}

Response resolve_letters(store::Session& session, const Arguments& arguments) {
  return finish_letters(session, arguments, store::resolve_letters, "resolved");
}

Response discard_letters(store::Session& session, const Arguments& arguments) {
  return finish_letters(session, arguments, store::discard_letters, "discarded");
}

}  // namespace skua::admin
