#include "admin/action.hpp"

#include <algorithm>
#include <array>

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
    {"/admin/dead-letters/replay", Parameter::Ids, "dead-letters replay", replay_letters},
    {"/admin/dead-letters/resolve", Parameter::Ids, "dead-letters resolve", resolve_letters},
    {"/admin/dead-letters/discard", Parameter::Ids, "dead-letters discard", discard_letters},
    {"/admin/repos/resync", Parameter::Did, "repo resync", resync_repository},
    {"/admin/filter/exclude", Parameter::Did, "filter exclude", exclude_account},
    {"/admin/filter/include", Parameter::Did, "filter include", include_account},
}};

[[noreturn]] void refuse(const std::string& message) {
  throw Refusal(400, "InvalidRequest", message);
}

/// Returns the value of the body's only member.
json member_of(const std::string& body, std::string_view name) {
  json object = json::parse(body, nullptr, false);
  if (!object.is_object()) refuse("the body is not a JSON object");
  for (const auto& [member, value] : object.items()) {
    if (member != name) refuse(fmt::format("unknown member '{}'", printable(member, 100)));
  }
  if (object.empty()) refuse(fmt::format("the body has no member '{}'", name));
  return std::move(object.begin().value());
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

}  // namespace

std::span<const Action> actions() {
  return kActions;
}

std::string_view to_string(Parameter parameter) {
  switch (parameter) {
    case Parameter::Name:
      return "name";
    case Parameter::Ids:
      return "ids";
    case Parameter::Did:
      break;
  }
  return "did";
}

Arguments parse_arguments(Parameter parameter, const std::string& body) {
  const json value = member_of(body, to_string(parameter));
  if (parameter == Parameter::Ids) return {.ids = ids_of(value)};
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  if (parameter == Parameter::Did) {
    if (const auto account = atproto::check_account_did(text); !account) {
      refuse("did is " + account.error().message());
    }
    return {.did = text};
  }
  // The check for a zero byte is needed because a PostgreSQL text cannot contain one.
  if (text.empty() || text.size() > kLongestName || text.find('\0') != std::string::npos) {
    refuse(fmt::format("name is a text of 1 to {} bytes", kLongestName));
  }
  return {.name = text};
}

std::string text_of(Parameter parameter, const Arguments& arguments) {
  switch (parameter) {
    case Parameter::Name:
      return printable(arguments.name, kLongestName);
    case Parameter::Ids:
      return fmt::format("{}", fmt::join(arguments.ids, ","));
    case Parameter::Did:
      break;
  }
  return arguments.did;
}

}  // namespace skua::admin
