#include "dead_letters.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "atproto/syntax.hpp"
#include "atproto/tid.hpp"
#include "backfill/letters/replay_letter.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/display_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers/projections/projection.hpp"
#include "database.hpp"
#include "event/frame_decoder.hpp"
#include "postgres/connection_string.hpp"
#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"

namespace skua::cli {

namespace {

constexpr std::size_t kMostHexBytes = 64;
constexpr std::size_t kMostCharacters = 10'000;
/// The maximum length of a text in a table or summary, in characters.
constexpr std::size_t kMostInTable = 200;

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json time_or_null(const std::optional<Timestamp>& time) {
  return time ? nlohmann::json(format_datetime(*time)) : nlohmann::json(nullptr);
}

/// Decodes a payload. Returns nothing if it is not exactly one DAG-CBOR value.
std::optional<nlohmann::json> decoded(const Bytes& payload) {
  atproto::Document document;
  if (!repo::read_dag_cbor(payload, document, repo::kAnyForm)) return std::nullopt;
  std::string text;
  records::append_json(text, document.root(), records::Nul::Escape);
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

const char* type_name(event::MessageType type) {
  using event::MessageType;
  switch (type) {
    case MessageType::Commit:
      return "#commit";
    case MessageType::Sync:
      return "#sync";
    case MessageType::Identity:
      return "#identity";
    case MessageType::Account:
      return "#account";
    case MessageType::Info:
      return "#info";
    case MessageType::Error:
      return "error";
    case MessageType::Unknown:
      return "unknown";
  }
  return "unknown";
}

/// Returns the event of a change; null if the payload is no event.
nlohmann::json event_json(const Bytes& payload) {
  nlohmann::json event = nlohmann::json::parse(as_text(payload), nullptr, false);
  return event.is_object() ? event : nlohmann::json(nullptr);
}

nlohmann::json frame_json(const Bytes& payload) {
  const auto peek = event::peek_frame(payload);
  if (!peek) return nullptr;
  return {{"type", type_name(peek->type)},
          {"seq", peek->seq},
          {"did", printable(peek->did, kMostInTable)},
          {"rev", printable(peek->rev, kMostInTable)},
          {"time", printable(peek->time, kMostInTable)}};
}

/// Returns a short text that names the subject of the letter.
std::string item_of(const tables::LetterRow& letter) {
  if (letter.change) {
    return fmt::format("{} at {}-{}", letter.operation.value_or("change"), letter.change->timeline,
                       letter.change->position);
  }
  std::string item = letter.operation.value_or("");
  if (letter.path) item += (item.empty() ? "" : " ") + *letter.path;
  return item.empty() ? "-" : item;
}

/// Returns a value on one line. Texts have no quotes.
std::string one_line(const nlohmann::json& value) {
  return printable(value.is_string() ? value.get<std::string>() : value.dump(), kMostCharacters);
}

using backfill::ReplayEnd;
using tables::LetterStatus;

const Option<std::vector<std::int64_t>> kIds(
    {.name = "ID", .meaning = "Numbers of letters, see `skua dead-letters list`"},
    number_in<std::int64_t>(1, std::numeric_limits<std::int64_t>::max()));
const Option<OptionalText> kConsumer(
    {.name = "--consumer",
     .type = "NAME",
     .meaning = "Only letters of this consumer; those of the indexer: indexer"});
const Option<std::optional<std::int32_t>> kLetterLane(
    {.name = "--lane", .type = "NUMBER", .meaning = "Only letters of this lane of a consumer"},
    number_in<std::int32_t>(0, 63));
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
                                .meaning = "All unfinished letters that match the options"});
const Option<bool> kForce({.name = "--force",
                           .meaning = "Also delete letters that are not finished"});

/// Returns the selection of letters on the command line.
tables::LetterFilter letter_filter(const Invocation& invocation) {
  tables::LetterFilter filter;
  filter.ids = invocation[kIds];
  filter.consumer = invocation[kConsumer];
  filter.did = invocation[kLetterDid];
  filter.lane = invocation[kLetterLane];
  filter.error = invocation[kError];
  filter.statuses = invocation[kStatus];
  filter.older_than = invocation[kOlderThan];
  return filter;
}

/// Returns the selection of letters, and checks that it names letters or a consumer, or says that
/// it means all letters.
tables::LetterFilter required_letters(const Invocation& invocation, const char* command) {
  tables::LetterFilter filter = letter_filter(invocation);
  const bool is_all = invocation[kAllLetters];
  if (filter.ids.empty() ? !is_all && !filter.consumer : is_all) {
    throw UsageError(fmt::format("{}: name letters or a --consumer, or say --all", command));
  }
  return filter;
}

int dead_letters_list(const Invocation& invocation) {
  tables::LetterFilter chosen = letter_filter(invocation);
  if (chosen.statuses.empty()) {
    chosen.statuses = {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying};
  }
  const std::size_t limit = invocation[kListLimit];
  postgres::Session session = open_state_to_read(invocation, "skua dead-letters");
  std::vector<tables::LetterRow> letters = tables::list_letters(session, chosen, limit + 1);
  const bool has_more = letters.size() > limit;
  if (has_more) letters.pop_back();
  if (invocation[kJson]) {
    nlohmann::json all = nlohmann::json::array();
    for (const tables::LetterRow& letter : letters) all.push_back(letter_json(letter));
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
  const tables::LetterFilter chosen = letter_filter(invocation);
  postgres::Session session = open_state_to_read(invocation, "skua dead-letters");
  bool all_well = true;
  nlohmann::json all = nlohmann::json::array();
  for (const std::int64_t id : chosen.ids) {
    const auto letters = tables::list_letters(session, {.ids = {id}}, 1);
    if (letters.empty()) {
      command_line::print_stderr("{}: there is no such letter\n", id);
      all_well = false;
      continue;
    }
    const Bytes payload = tables::read_letter_payload(session, id);
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

/// The maximum length of a reason in the output, because a reason may be long.
constexpr std::size_t kMostText = 500;

int dead_letters_replay(const Invocation& invocation) {
  StopSignal stop_signal;
  tables::LetterFilter chosen = required_letters(invocation, "dead-letters replay");
  const bool is_all = chosen.ids.empty();
  const std::string url = require_database(invocation);
  app::check_database_to_write(url, durability(invocation));
  postgres::Session session(url, postgres::process_name("skua dead-letters"));
  if (!can_use_indexes(session, "dead-letters replay")) return kFailure;
  backfill::LetterReplays replays(session, postgres::process_name("skua dead-letters"));

  std::vector<std::int64_t> letters = chosen.ids;
  if (is_all) {
    chosen.statuses = {LetterStatus::Dead, LetterStatus::Replaying};
    letters = tables::letter_ids(session, chosen);
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
                         // A letter that another process has replayed meanwhile is no failure,
                         // unless the command line names it.
                         (is_all && replayed.end == ReplayEnd::NotDead);
    fmt::print(is_well ? stdout : stderr, "{}: {}: {}\n", id, to_string(replayed.end),
               printable(replayed.text, kMostText));
    all_well = all_well && is_well;
    ++done;
  }
  if (letters.empty()) fmt::print("no letters match\n");
  return all_well ? kSuccess : kFailure;
}

/// A function that finishes letters in the database, and returns their numbers.
using FinishLetters = std::vector<std::int64_t>(postgres::Session&, const tables::LetterFilter&,
                                                std::string_view);

int finish_letters(const Invocation& invocation, const char* command, FinishLetters& finish,
                   const char* done) {
  const tables::LetterFilter chosen = required_letters(invocation, command);
  postgres::Session session = open_database(invocation, "skua dead-letters");
  const std::vector<std::int64_t> finished = finish(session, chosen, invocation[kNote]);
  fmt::print("{} {}\n", counted(static_cast<std::int64_t>(finished.size()), "letter"), done);
  bool all_well = true;
  for (const std::int64_t id : chosen.ids) {
    if (std::binary_search(finished.begin(), finished.end(), id)) continue;
    all_well = false;
    command_line::print_stderr("{}: {}\n", id, tables::unfinished_reason(session, id));
  }
  return all_well ? kSuccess : kFailure;
}

int dead_letters_purge(const Invocation& invocation) {
  tables::LetterFilter chosen = letter_filter(invocation);
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
  postgres::Session session = open_database(invocation, "skua dead-letters");
  fmt::print("{} deleted\n",
             counted(static_cast<std::int64_t>(tables::purge_letters(session, chosen)), "letter"));
  return kSuccess;
}

}  // namespace

nlohmann::json letter_json(const tables::LetterRow& letter) {
  nlohmann::json object = {
      {"id", letter.id},
      {"status", std::string(tables::to_string(letter.status))},
      {"created_at", format_datetime(letter.created_at)},
      {"last_at", format_datetime(letter.last_at)},
      {"attempts", letter.attempts},
      {"consumer", letter.consumer},
      {"key", letter.key},
      {"did", letter.did.empty() ? nlohmann::json(nullptr) : nlohmann::json(letter.did)},
      {"operation", or_null(letter.operation)},
      {"error", letter.error},
      {"sqlstate", or_null(letter.sqlstate)},
      {"payload_bytes", or_null(letter.payload_bytes)},
      {"source", or_null(letter.source)},
      {"path", or_null(letter.path)},
      {"rev", nullptr},
      {"cid", nullptr},
      {"change", nullptr},
      {"lease_owner", or_null(letter.lease_owner)},
      {"lease_until", time_or_null(letter.lease_until)},
      {"finished_at", time_or_null(letter.finished_at)},
      {"note", or_null(letter.note)}};
  if (letter.rev) {
    object["rev"] = atproto::Tid{static_cast<std::uint64_t>(*letter.rev)}.to_string();
  }
  if (letter.cid) {
    object["cid"] = atproto::Cid{atproto::Cid::kDagCbor, *letter.cid}.to_string();
  }
  if (letter.change) {
    object["change"] = {{"timeline", letter.change->timeline},
                        {"position", letter.change->position},
                        {"lane", letter.change->lane},
                        {"actor_id", letter.change->actor_id},
                        {"collection_id", letter.change->collection_id},
                        {"rkey", letter.change->rkey}};
  }
  return object;
}

nlohmann::json payload_json(const tables::LetterRow& letter, const Bytes& payload) {
  if (payload.empty()) return nullptr;
  nlohmann::json object = {
      {"bytes", letter.payload_bytes.value_or(static_cast<std::int32_t>(payload.size()))},
      {"kept", payload.size()}};
  nlohmann::json event = letter.change ? event_json(payload) : nlohmann::json(nullptr);
  if (!event.is_null()) {
    object["event"] = std::move(event);
  } else if (auto value = decoded(payload)) {
    object[letter.cid ? "record" : "value"] = std::move(*value);
  } else if (nlohmann::json frame = frame_json(payload); !frame.is_null()) {
    object["frame"] = std::move(frame);
  } else if (is_utf8(as_text(payload))) {
    object["text"] = printable(as_text(payload), kMostCharacters);
  } else {
    object["hex"] = hex_text(ByteView(payload).first(std::min(payload.size(), kMostHexBytes)));
  }
  return object;
}

std::string letters_text(const std::vector<tables::LetterRow>& letters) {
  command_line::Table table({{"id", true},
                             {"status"},
                             {"last at"},
                             {"attempts", true},
                             {"consumer"},
                             {"account"},
                             {"item: error"}});
  for (const tables::LetterRow& letter : letters) {
    table.add({std::to_string(letter.id), std::string(tables::to_string(letter.status)),
               format_datetime(letter.last_at), std::to_string(letter.attempts),
               printable(letter.consumer, kMostInTable),
               letter.did.empty() ? "-" : printable(letter.did, kMostInTable),
               fmt::format("{}: {}", printable(item_of(letter), kMostInTable),
                           printable(letter.error, kMostInTable))});
  }
  return table.text();
}

std::string letter_text(const tables::LetterRow& letter, const Bytes& payload) {
  std::string text;
  const auto add = [&](const std::string& name, const nlohmann::json& value) {
    if (!value.is_null()) text += fmt::format("{:<14} {}\n", name, one_line(value));
  };
  const nlohmann::json fields = letter_json(letter);
  for (const char* name :
       {"id",       "status", "error",       "sqlstate",    "attempts",    "created_at", "last_at",
        "consumer", "source", "did",         "path",        "operation",   "rev",        "cid",
        "key",      "change", "lease_owner", "lease_until", "finished_at", "note"}) {
    add(name, fields.at(name));
  }
  const nlohmann::json content = payload_json(letter, payload);
  if (content.is_null()) {
    text += "payload        none\n";
    if (letter.change && consumers::find_projection(letter.consumer) != nullptr) {
      text += fmt::format(
          "replay         while the log has the change; later `skua consumers rebuild {}`\n",
          letter.consumer);
    }
    return text;
  }
  for (const auto& [name, value] : content.items()) {
    if (name != "record" && name != "value" && name != "event") {
      add(name == "bytes" ? "payload_bytes" : name, value);
      continue;
    }
    text += name + "\n";
    const std::string dump = value.dump(2);
    for (std::size_t begin = 0; begin < dump.size();) {
      const std::size_t end = std::min(dump.find('\n', begin), dump.size());
      const auto line = std::string_view(dump).substr(begin, end - begin);
      text += "  " + printable(line, kMostCharacters) + "\n";
      begin = end + 1;
    }
  }
  return text;
}

std::string safe_dump(const nlohmann::json& value) {
  return value.dump(2, ' ', true);
}

CommandSpecs dead_letters_commands() {
  const OptionUse ids = required(kIds);
  return {{"dead-letters", "List, replay and delete input that could not be stored"},
          {"dead-letters list",
           "List dead letters, the most recently rejected first",
           {kDatabase, kConsumer, kLetterLane, kLetterDid, kError, kStatus, kListLimit, kJson},
           dead_letters_list},
          {"dead-letters show",
           "Print a dead letter with its content",
           {kDatabase, ids, kJson},
           dead_letters_show},
          {"dead-letters replay",
           "Process dead letters again",
           {kDatabase, kIds, kAllLetters, kConsumer, kLetterLane, kLetterDid, kError,
            kAllowUnsafeDatabase},
           dead_letters_replay},
          {"dead-letters resolve",
           "Mark dead letters as resolved",
           {kDatabase, kIds, kAllLetters, kConsumer, kLetterLane, kLetterDid, kError, kNote},
           [](const Invocation& invocation) {
             return finish_letters(invocation, "dead-letters resolve", tables::resolve_letters,
                                   "resolved");
           }},
          {"dead-letters discard",
           "Mark dead letters as discarded",
           {kDatabase, kIds, kAllLetters, kConsumer, kLetterLane, kLetterDid, kError, kNote},
           [](const Invocation& invocation) {
             return finish_letters(invocation, "dead-letters discard", tables::discard_letters,
                                   "discarded");
           }},
          {"dead-letters purge",
           "Delete dead letters from the database",
           {kDatabase, kConsumer, kLetterDid, kError, kStatus, required(kOlderThan), kForce},
           dead_letters_purge}};
}

}  // namespace skua::cli
