#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "dead_letters.hpp"
#include "letter_choice.hpp"
#include "letter_text.hpp"
#include "store/process_name.hpp"

namespace skua::cli {
namespace {

using store::LetterStatus;

constexpr std::int64_t kListed = 100;
constexpr std::int64_t kMostListed = 100'000;

}  // namespace

int dead_letters_list(const Settings& settings, const DeadLettersFlags& flags) {
  store::LetterFilter chosen = letter_filter(flags);
  if (chosen.statuses.empty()) {
    chosen.statuses = {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying};
  }
  const auto limit = static_cast<std::size_t>(
      flags.limit ? whole_number({*flags.limit, "--limit"}, 1, kMostListed) : kListed);
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua dead-letters"));
  std::vector<store::LetterRow> letters = store::list_letters(session, chosen, limit + 1);
  const bool has_more = letters.size() > limit;
  if (has_more) letters.pop_back();
  if (flags.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const store::LetterRow& letter : letters) all.push_back(letter_json(letter));
    fmt::print("{}\n", safe_dump(all));
  } else if (letters.empty()) {
    fmt::print("no letters match\n");
  } else {
    fmt::print("{}", letters_text(letters));
  }
  if (has_more) command_line::print_stderr("the first {} are shown: --limit shows more\n", limit);
  return kSuccess;
}

int dead_letters_show(const Settings& settings, const DeadLettersFlags& flags) {
  const store::LetterFilter chosen = letter_filter(flags);
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua dead-letters"));
  bool all_well = true;
  nlohmann::json all = nlohmann::json::array();
  for (const std::int64_t id : chosen.ids) {
    const auto letters = store::list_letters(session, {.ids = {id}}, 1);
    if (letters.empty()) {
      command_line::print_stderr("{}: there is no such letter\n", id);
      all_well = false;
      continue;
    }
    const Bytes payload = store::read_letter_payload(session, id);
    if (flags.json) {
      all.push_back(letter_json(letters[0]));
      all.back()["payload"] = payload_json(letters[0], payload);
    } else {
      fmt::print("{}{}", &id == chosen.ids.data() ? "" : "\n", letter_text(letters[0], payload));
    }
  }
  if (flags.json) fmt::print("{}\n", safe_dump(all));
  return all_well ? kSuccess : kFailure;
}

}  // namespace skua::cli
