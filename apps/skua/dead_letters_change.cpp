#include <algorithm>

#include <fmt/format.h>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "dead_letters.hpp"
#include "letter_choice.hpp"
#include "store/process_name.hpp"

namespace skua::cli {
namespace {

using store::LetterStatus;

/// A function of the store that finishes letters, and returns their numbers.
using FinishLetters = std::vector<std::int64_t>(store::Session&, const store::LetterFilter&,
                                                std::string_view);

int finish_letters(const Settings& settings, const DeadLettersFlags& flags, FinishLetters& finish,
                   const char* done) {
  const store::LetterFilter chosen = letter_filter(flags);
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua dead-letters"));
  const std::vector<std::int64_t> finished = finish(session, chosen, flags.note.value_or(""));
  fmt::print("{} {}\n", counted(static_cast<std::int64_t>(finished.size()), "letter"), done);
  bool all_well = true;
  for (const std::int64_t id : chosen.ids) {
    if (std::binary_search(finished.begin(), finished.end(), id)) continue;
    all_well = false;
    command_line::print_stderr("{}: {}\n", id, store::unfinished_reason(session, id));
  }
  return all_well ? kSuccess : kFailure;
}

}  // namespace

int dead_letters_resolve(const Settings& settings, const DeadLettersFlags& flags) {
  return finish_letters(settings, flags, store::resolve_letters, "resolved");
}

int dead_letters_discard(const Settings& settings, const DeadLettersFlags& flags) {
  return finish_letters(settings, flags, store::discard_letters, "discarded");
}

int dead_letters_purge(const Settings& settings, const DeadLettersFlags& flags) {
  store::LetterFilter chosen = letter_filter(flags);
  if (chosen.statuses.empty()) {
    chosen.statuses = {LetterStatus::Resolved, LetterStatus::Discarded};
  }
  const bool only_finished =
      std::all_of(chosen.statuses.begin(), chosen.statuses.end(), [](LetterStatus status) {
        return status == LetterStatus::Resolved || status == LetterStatus::Discarded;
      });
  if (!only_finished && !flags.force) {
    throw UsageError(
        "dead-letters purge: letters that are not finished are deleted only with --force");
  }
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua dead-letters"));
  fmt::print("{} deleted\n",
             counted(static_cast<std::int64_t>(store::purge_letters(session, chosen)), "letter"));
  return kSuccess;
}

}  // namespace skua::cli
