#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "atproto/syntax.hpp"
#include "backfill/letters/letter_replays.hpp"
#include "base/count_text.hpp"
#include "base/utf8.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "letter_text.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "store/process_name.hpp"

namespace skua::cli {
namespace {

using backfill::ReplayEnd;
using store::LetterStatus;

const Option<std::vector<std::int64_t>> kIds(
    {.name = "ID", .meaning = "Numbers of letters, see `skua dead-letters list`"},
    number_in<std::int64_t>(1, std::numeric_limits<std::int64_t>::max()));
const Option<OptionalText> kConsumer(
    {.name = "--consumer",
     .type = "NAME",
     .meaning = "Only letters of this consumer; those of the indexer: indexer"});
const Option<OptionalText> kLetterDid(
    {.name = "--did", .type = "DID", .meaning = "Only letters of this account"},
    [](const SettingValue& given) {
      if (atproto::is_did(given.value)) return given.value;
      throw UsageError(fmt::format("{}: '{}' is not a DID", given.origin, given.value));
    });
const Option<OptionalText> kError({.name = "--error",
                                   .type = "WORDS",
                                   .meaning = "Only letters whose error contains this text"});
const Option<std::vector<LetterStatus>> kStatus(
    {.name = "--status",
     .type = "dead|requested|replaying|resolved|discarded",
     .meaning = "Only letters in this status"},
    one_of<LetterStatus>({{"dead", LetterStatus::Dead},
                          {"requested", LetterStatus::Requested},
                          {"replaying", LetterStatus::Replaying},
                          {"resolved", LetterStatus::Resolved},
                          {"discarded", LetterStatus::Discarded}}));
const Option<std::chrono::seconds> kOlderThan(
    {.name = "--older-than",
     .type = "DURATION",
     .meaning = "Only letters that were finished so long ago; if they are not finished: rejected "
                "(for example 12h or 30d)"},
    duration_in(std::chrono::seconds(0), std::chrono::days(3650)));
const Option<std::size_t> kListLimit({.name = "--limit",
                                      .type = "NUMBER",
                                      .meaning = "Maximum number of letters, 1 to 100000",
                                      .default_value = "100"},
                                     number_in(1, 100'000));
const Option<std::string> kNote({.name = "--note",
                                 .type = "WORDS",
                                 .meaning = "A remark that is stored with the letter"});
const Option<bool> kAllLetters({.name = "--all",
                                .meaning = "All dead letters that match the options"});
const Option<bool> kForce({.name = "--force",
                           .meaning = "Also delete letters that are not finished"});

/// The letters that the command line selects.
store::LetterFilter letter_filter(const Invocation& invocation) {
  store::LetterFilter filter;
  filter.ids = invocation[kIds];
  filter.consumer = invocation[kConsumer];
  filter.did = invocation[kLetterDid];
  filter.error = invocation[kError];
  filter.statuses = invocation[kStatus];
  filter.older_than = invocation[kOlderThan];
  return filter;
}

int dead_letters_list(const Invocation& invocation) {
  store::LetterFilter chosen = letter_filter(invocation);
  if (chosen.statuses.empty()) {
    chosen.statuses = {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying};
  }
  const std::size_t limit = invocation[kListLimit];
  store::Session session = open_database(invocation, "skua dead-letters");
  std::vector<store::LetterRow> letters = store::list_letters(session, chosen, limit + 1);
  const bool has_more = letters.size() > limit;
  if (has_more) letters.pop_back();
  if (invocation[kJson]) {
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

int dead_letters_show(const Invocation& invocation) {
  const store::LetterFilter chosen = letter_filter(invocation);
  store::Session session = open_database(invocation, "skua dead-letters");
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
    if (invocation[kJson]) {
      all.push_back(letter_json(letters[0]));
      all.back()["payload"] = payload_json(letters[0], payload);
    } else {
      fmt::print("{}{}", &id == chosen.ids.data() ? "" : "\n", letter_text(letters[0], payload));
    }
  }
  if (invocation[kJson]) fmt::print("{}\n", safe_dump(all));
  return all_well ? kSuccess : kFailure;
}

/// A reason may be long.
constexpr std::size_t kMostText = 500;

int dead_letters_replay(const Invocation& invocation) {
  StopSignal stop_signal;
  store::LetterFilter chosen = letter_filter(invocation);
  const bool is_all = invocation[kAllLetters];
  if (is_all != chosen.ids.empty()) {
    throw UsageError("dead-letters replay: name letters, or say --all");
  }
  const std::string url = require_database(invocation);
  app::check_database_to_write(url, durability(invocation));
  store::Session session(url, store::process_name("skua dead-letters"));
  if (!can_use_indexes(session, "dead-letters replay")) return kFailure;
  backfill::LetterReplays replays(session, store::process_name("skua dead-letters"));

  std::vector<std::int64_t> letters = chosen.ids;
  if (is_all) {
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
                         (is_all && replayed.end == ReplayEnd::NotDead);
    fmt::print(is_well ? stdout : stderr, "{}: {}: {}\n", id, to_string(replayed.end),
               printable(replayed.text, kMostText));
    all_well = all_well && is_well;
    ++done;
  }
  if (letters.empty()) fmt::print("no letters match\n");
  return all_well ? kSuccess : kFailure;
}

/// A function of the store that finishes letters, and returns their numbers.
using FinishLetters = std::vector<std::int64_t>(store::Session&, const store::LetterFilter&,
                                                std::string_view);

int finish_letters(const Invocation& invocation, FinishLetters& finish, const char* done) {
  const store::LetterFilter chosen = letter_filter(invocation);
  store::Session session = open_database(invocation, "skua dead-letters");
  const std::vector<std::int64_t> finished = finish(session, chosen, invocation[kNote]);
  fmt::print("{} {}\n", counted(static_cast<std::int64_t>(finished.size()), "letter"), done);
  bool all_well = true;
  for (const std::int64_t id : chosen.ids) {
    if (std::binary_search(finished.begin(), finished.end(), id)) continue;
    all_well = false;
    command_line::print_stderr("{}: {}\n", id, store::unfinished_reason(session, id));
  }
  return all_well ? kSuccess : kFailure;
}

int dead_letters_purge(const Invocation& invocation) {
  store::LetterFilter chosen = letter_filter(invocation);
  if (chosen.statuses.empty()) {
    chosen.statuses = {LetterStatus::Resolved, LetterStatus::Discarded};
  }
  const bool only_finished =
      std::all_of(chosen.statuses.begin(), chosen.statuses.end(), [](LetterStatus status) {
        return status == LetterStatus::Resolved || status == LetterStatus::Discarded;
      });
  if (!only_finished && !invocation[kForce]) {
    throw UsageError(
        "dead-letters purge: letters that are not finished are deleted only with --force");
  }
  store::Session session = open_database(invocation, "skua dead-letters");
  fmt::print("{} deleted\n",
             counted(static_cast<std::int64_t>(store::purge_letters(session, chosen)), "letter"));
  return kSuccess;
}

}  // namespace

CommandSpecs dead_letters_commands() {
  const OptionUse ids = required(kIds);
  return {{"dead-letters", "List, replay and delete input that could not be stored"},
          {"dead-letters list",
           "List dead letters, the most recently rejected first",
           {kDatabase, kConsumer, kLetterDid, kError, kStatus, kListLimit, kJson},
           dead_letters_list},
          {"dead-letters show",
           "Print a dead letter with its content",
           {kDatabase, ids, kJson},
           dead_letters_show},
          {"dead-letters replay",
           "Process dead letters again",
           {kDatabase, kIds, kAllLetters, kConsumer, kLetterDid, kError, kAllowUnsafeDatabase},
           dead_letters_replay},
          {"dead-letters resolve",
           "Mark dead letters as resolved",
           {kDatabase, ids, kNote},
           [](const Invocation& invocation) {
             return finish_letters(invocation, store::resolve_letters, "resolved");
           }},
          {"dead-letters discard",
           "Mark dead letters as discarded",
           {kDatabase, ids, kNote},
           [](const Invocation& invocation) {
             return finish_letters(invocation, store::discard_letters, "discarded");
           }},
          {"dead-letters purge",
           "Delete dead letters from the database",
           {kDatabase, kConsumer, kLetterDid, kError, kStatus, required(kOlderThan), kForce},
           dead_letters_purge}};
}

}  // namespace skua::cli
