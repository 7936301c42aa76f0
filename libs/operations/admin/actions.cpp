#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "admin/action.hpp"
#include "admin/actions.sql.hpp"
#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "backfill/letters/replay_letter.hpp"
#include "backfill/repository/resync_rows.hpp"
#include "base/text.hpp"
#include "consumers/consumer_table.hpp"
#include "postgres/connection_string.hpp"
#include "tables/account_groups.hpp"
#include "tables/dead_letters.hpp"
#include "tables/filter_table.hpp"

namespace skua::admin {

namespace {

using http_server::Response;
using nlohmann::ordered_json;

Response excluded_response(const std::string& did, bool is_excluded, std::size_t changes) {
  const ordered_json body = {{"did", did}, {"excluded", is_excluded}, {"changed", changes > 0}};
  return {.body = body.dump() + "\n"};
}

/// Returns the live consumer of a name. During a rebuild a second consumer has the same name.
std::optional<consumers::Consumer> find_consumer(postgres::Session& session,
                                                 const std::string& name) {
  for (consumers::Consumer& consumer : consumers::read_consumers(session)) {
    if (consumer.name == name) return std::move(consumer);
  }
  return std::nullopt;
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  throw Refusal(404, "UnknownConsumer",
                fmt::format("there is no consumer '{}'", printable(name, kLongestName)));
}

/// Changes a consumer. The answer has the consumer's state after the change.
template <class Change>
Response change_consumer(postgres::Session& session, const std::string& name, Change change) {
  if (!find_consumer(session, name)) refuse_unknown(name);
  try {
    change();
  } catch (const consumers::ConsumerError& error) {
    throw Refusal(409, "InvalidState", error.what());
  }
  const auto consumer = find_consumer(session, name);
  if (!consumer) refuse_unknown(name);
  const nlohmann::ordered_json body = {
      {"name", name}, {"state", consumer->state}, {"paused", consumer->paused}};
  return {.body = body.dump() + "\n"};
}

/// The maximum length of a text in an answer, because the reason of a dead letter may be long.
constexpr std::size_t kMostText = 500;
/// The note of letters that an operator finished through the admin API.
constexpr const char* kNote = "admin API";

using FinishLetters = std::vector<std::int64_t>(postgres::Session&, const tables::LetterFilter&,
                                                std::string_view);

/// Refuses the request before any change if one of the letters does not exist.
void require_letters(postgres::Session& session, const std::vector<std::int64_t>& ids) {
  const auto known = tables::letter_ids(session, {.ids = ids});
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

using tables::LetterStatus;

/// Returns the letters that a request selects: those of `ids`, or those that match and have one of
/// the statuses.
std::vector<std::int64_t> selected_letters(postgres::Session& session, const Arguments& arguments,
                                           std::vector<LetterStatus> statuses) {
  tables::LetterFilter chosen = arguments.letters;
  if (!chosen.ids.empty()) {
    require_letters(session, chosen.ids);
    return chosen.ids;
  }
  chosen.statuses = std::move(statuses);
  auto ids = tables::letter_ids(session, chosen);
  if (ids.size() > kMostLetters) {
    throw Refusal(409, "TooManyLetters",
                  fmt::format("{} letters match, and a request may have {}: select fewer, or use "
                              "`skua dead-letters`; nothing was changed",
                              ids.size(), kMostLetters));
  }
  return ids;
}

Response finish_letters(postgres::Session& session, const Arguments& arguments,
                        FinishLetters& finish, std::string_view result) {
  const auto ids = selected_letters(
      session, arguments, {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying});
  std::vector<std::int64_t> finished;
  if (!ids.empty()) finished = finish(session, {.ids = ids}, kNote);
  ordered_json letters = ordered_json::array();
  for (const std::int64_t id : ids) {
    const bool is_finished = std::find(finished.begin(), finished.end(), id) != finished.end();
    letters.push_back(is_finished ? entry(id, result, {})
                                  : entry(id, "unchanged", tables::unfinished_reason(session, id)));
  }
  return response_of(letters);
}

}  // namespace

Response resync_repository(postgres::Session& session, const Arguments& arguments) {
  if (!session.query_one<bool>(sql::admin_is_known, arguments.did)) {
    throw Refusal(404, "UnknownAccount",
                  fmt::format("the account {} is not in the database: `skua backfill {}` downloads "
                              "its repository",
                              arguments.did, arguments.did));
  }
  if (!tables::load_account_groups(session).owned.has_account(arguments.did)) {
    throw Refusal(
        409, "ForeignAccount",
        fmt::format("the account {} is of {}", arguments.did, tables::foreign_text(arguments.did)));
  }
  backfill::request_resync(session, std::array{backfill::NewJob{.did = arguments.did}});
  const ordered_json body = {{"did", arguments.did}, {"state", "queued"}};
  return {.body = body.dump() + "\n"};
}

Response exclude_account(postgres::Session& session, const Arguments& arguments) {
  const std::vector<std::string> dids = {arguments.did};
  return excluded_response(arguments.did, true, tables::exclude_accounts(session, dids));
}

Response include_account(postgres::Session& session, const Arguments& arguments) {
  const std::vector<std::string> dids = {arguments.did};
  return excluded_response(arguments.did, false, tables::include_accounts(session, dids));
}

Response pause_consumer(postgres::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { consumers::pause_consumer(session, arguments.name); });
}

Response resume_consumer(postgres::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { consumers::resume_consumer(session, arguments.name); });
}

Response reset_consumer(postgres::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { consumers::reset_consumer(session, arguments.name); });
}

Response rebuild_consumer(postgres::Session& session, const Arguments& arguments) {
  return change_consumer(session, arguments.name,
                         [&] { consumers::rebuild_consumer(session, arguments.name); });
}

Response replay_letters(postgres::Session& session, const Arguments& arguments) {
  const auto ids =
      selected_letters(session, arguments, {LetterStatus::Dead, LetterStatus::Replaying});
  if (backfill::bootstrap_is_open(session)) {
    throw Refusal(409, "BootstrapOpen",
                  "a bootstrap is not finished: `skua backfill --bootstrap` finishes it");
  }
  backfill::LetterReplays replays(session, postgres::process_name("skua admin"));
  ordered_json letters = ordered_json::array();
  for (const std::int64_t id : ids) {
    const backfill::ReplayedLetter replayed = replays.replay(id);
    letters.push_back(entry(id, to_string(replayed.end), replayed.text));
  }
  return response_of(letters);
}

Response resolve_letters(postgres::Session& session, const Arguments& arguments) {
  return finish_letters(session, arguments, tables::resolve_letters, "resolved");
}

Response discard_letters(postgres::Session& session, const Arguments& arguments) {
  return finish_letters(session, arguments, tables::discard_letters, "discarded");
}

}  // namespace skua::admin
