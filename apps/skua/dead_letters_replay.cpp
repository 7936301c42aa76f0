#include <chrono>

#include <fmt/format.h>

#include "app/database.hpp"
#include "backfill/letters/letter_replays.hpp"
#include "base/count_text.hpp"
#include "base/utf8.hpp"
#include "bootstrap_check.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "dead_letters.hpp"
#include "letter_choice.hpp"
#include "stop_signal.hpp"
#include "store/process_name.hpp"

namespace skua::cli {
namespace {

using backfill::ReplayEnd;
using store::LetterStatus;

/// A reason may be long.
constexpr std::size_t kMostText = 500;

}  // namespace

int dead_letters_replay(const Settings& settings, const DeadLettersFlags& flags) {
  StopSignal stop_signal;
  store::LetterFilter chosen = letter_filter(flags);
  if (flags.all != flags.ids.empty()) {
    throw UsageError("dead-letters replay: name letters, or say --all");
  }
  const std::string url = require_database(settings, flags.database);
  app::check_database_to_write(url, durability(settings, flags.allow_unsafe_database));
  store::Session session(url, store::process_name("skua dead-letters"));
  if (!can_use_indexes(session, "dead-letters replay")) return kFailure;
  backfill::LetterReplays replays(session, store::process_name("skua dead-letters"));

  std::vector<std::int64_t> letters = chosen.ids;
  if (flags.all) {
    chosen.statuses = {LetterStatus::Dead, LetterStatus::Replaying};
    letters = store::letter_ids(session, chosen);
  }
  bool all_well = true;
  std::size_t done = 0;
  for (const std::int64_t id : letters) {
    if (stop_signal.wait_for(std::chrono::milliseconds(0))) {
      command_line::print_stderr("stopped: {} not replayed\n",
                                 counted(letters.size() - done, "letter"));
      return kFailure;
    }
    const backfill::ReplayedLetter replayed = replays.replay(id);
    const bool is_well = replayed.end == ReplayEnd::Resolved ||
                         replayed.end == ReplayEnd::Requested ||
                         // Another process was faster.
                         (flags.all && replayed.end == ReplayEnd::NotDead);
    fmt::print(is_well ? stdout : stderr, "{}: {}: {}\n", id, to_string(replayed.end),
               printable(replayed.text, kMostText));
    all_well = all_well && is_well;
    ++done;
  }
  if (letters.empty()) fmt::print("no letters match\n");
  return all_well ? kSuccess : kFailure;
}

}  // namespace skua::cli
