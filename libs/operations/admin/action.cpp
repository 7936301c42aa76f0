#include "admin/action.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "base/text.hpp"

namespace skua::admin {
namespace {

using nlohmann::json;

constexpr std::array<Action, 10> kActions = {{
    {"/admin/consumers/pause", Parameter::Name, "consumers pause", pause_consumer},
    {"/admin/consumers/resume", Parameter::Name, "consumers resume", resume_consumer},
    {"/admin/consumers/reset", Parameter::Name, "consumers reset", reset_consumer},
    {"/admin/consumers/rebuild", Parameter::Name, "consumers rebuild", rebuild_consumer},
    {"/admin/dead-letters/replay", Parameter::Letters, "dead-letters replay", replay_letters},
    {"/admin/dead-letters/resolve", Parameter::Letters, "dead-letters resolve", resolve_letters},
    {"/admin/dead-letters/discard", Parameter::Letters, "dead-letters discard", discard_letters},
    {"/admin/repos/resync", Parameter::Did, "repo resync", resync_repository},
    {"/admin/filter/exclude", Parameter::Did, "filter exclude", exclude_account},
    {"/admin/filter/include", Parameter::Did, "filter include", include_account},
}};

/// A consumer has at most 64 lanes.
constexpr std::int32_t kHighestLane = 63;

[[noreturn]] void refuse(const std::string& message) {
  throw Refusal(400, "InvalidRequest", message);
}

/// Returns the body, which has only members of the parameter.
json object_of(Parameter parameter, const std::string& body) {
  json object = json::parse(body, nullptr, false);
  if (!object.is_object()) refuse("the body is not a JSON object");
  const auto known = members_of(parameter);
  for (const auto& [member, value] : object.items()) {
    if (std::ranges::find(known, member) == known.end()) {
      refuse(fmt::format("unknown member '{}'", printable(member, 100)));
    }
  }
  return object;
}

/// Returns the value of a body's only member.
json only_member(Parameter parameter, const std::string& body) {
  json object = object_of(parameter, body);
  if (object.empty()) {
    refuse(fmt::format("the body has no member '{}'", members_of(parameter).front()));
  }
  return std::move(object.begin().value());
}

std::string text_in(const json& value, std::string_view name) {
  std::string text = value.is_string() ? value.get<std::string>() : std::string();
  // The check for a zero byte is needed because a PostgreSQL text cannot contain one.
  if (text.empty() || text.size() > kLongestName || text.find('\0') != std::string::npos) {
    refuse(fmt::format("{} is a text of 1 to {} bytes", name, kLongestName));
  }
  return text;
}

std::string did_in(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : std::string();
  if (const auto account = atproto::check_account_did(text); !account) {
    refuse("did is " + account.error().message());
  }
  return text;
}

std::vector<std::int64_t> ids_of(const json& value) {
  const auto is_id = [](const json& id) {
    // The second comparison is needed because an unsigned number beyond int64 would become
    // negative.
    return id.is_number_integer() && id > 0 && id.get<std::int64_t>() > 0;
  };
  if (!value.is_array() || value.empty() || value.size() > kMostIds ||
      !std::all_of(value.begin(), value.end(), is_id)) {
    refuse(fmt::format("ids is a list of 1 to {} numbers of letters", kMostIds));
  }
  auto ids = value.get<std::vector<std::int64_t>>();
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Returns the selection of letters. As in the command, a selection without `ids` names a consumer
/// or says that it means all letters.
tables::LetterFilter letters_of(const json& object) {
  tables::LetterFilter letters;
  bool is_all = false;
  for (const auto& [name, value] : object.items()) {
    if (name == "ids") {
      letters.ids = ids_of(value);
    } else if (name == "consumer") {
      letters.consumer = text_in(value, name);
    } else if (name == "error") {
      letters.error = text_in(value, name);
    } else if (name == "did") {
      letters.did = did_in(value);
    } else if (name == "lane") {
      if (!value.is_number_integer() || value < 0 || value > kHighestLane) {
        refuse(fmt::format("lane is a number from 0 to {}", kHighestLane));
      }
      letters.lane = value.get<std::int32_t>();
    } else if (value != true) {
      refuse("all is true, or absent");
    } else {
      is_all = true;
    }
  }
  if (!letters.ids.empty() ? object.size() > 1 : !is_all && !letters.consumer) {
    refuse("give ids alone, or consumer, or all, and with these lane, did and error");
  }
  return letters;
}

}  // namespace

std::span<const Action> actions() {
  return kActions;
}

std::span<const std::string_view> members_of(Parameter parameter) {
  static constexpr std::array<std::string_view, 1> kName{"name"};
  static constexpr std::array<std::string_view, 6> kLetters{"ids", "consumer", "lane",
                                                            "did", "error",    "all"};
  static constexpr std::array<std::string_view, 1> kDid{"did"};
  switch (parameter) {
    case Parameter::Name:
      return kName;
    case Parameter::Letters:
      return kLetters;
    case Parameter::Did:
      break;
  }
  return kDid;
}

Arguments parse_arguments(Parameter parameter, const std::string& body) {
  if (parameter == Parameter::Letters) return {.letters = letters_of(object_of(parameter, body))};
  const json value = only_member(parameter, body);
  if (parameter == Parameter::Did) return {.did = did_in(value)};
  return {.name = text_in(value, "name")};
}

std::string text_of(Parameter parameter, const Arguments& arguments) {
  if (parameter == Parameter::Name) return printable(arguments.name, kLongestName);
  if (parameter == Parameter::Did) return arguments.did;
  const tables::LetterFilter& letters = arguments.letters;
  if (!letters.ids.empty()) return fmt::format("{}", fmt::join(letters.ids, ","));
  std::vector<std::string> texts = {letters.consumer ? "consumer " + *letters.consumer : "all"};
  if (letters.lane) texts.push_back(fmt::format("lane {}", *letters.lane));
  if (letters.did) texts.push_back("did " + *letters.did);
  if (letters.error) texts.push_back("error " + *letters.error);
  return printable(fmt::format("{}", fmt::join(texts, ", ")), 4 * kLongestName);
}

}  // namespace skua::admin
