#include "change_feed/leased/leased_filter.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skua::change_feed {
namespace {

constexpr std::size_t kMostPatterns = 1'000;
constexpr std::size_t kMostAccounts = 10'000;

}  // namespace

Checked<ChangeFilter> parse_leased_filter(const std::string& json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return std::string("the filter is not a JSON object");
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  std::vector<std::string> ops;
  std::vector<std::string> kinds;
  const std::pair<const char*, std::vector<std::string>*> members[] = {
      {"collections", &collections}, {"dids", &dids}, {"ops", &ops}, {"kinds", &kinds}};
  for (const auto& [name, values] : members) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!found->is_array()) return fmt::format("{} is not a list", name);
    for (const auto& value : *found) {
      if (!value.is_string()) return fmt::format("{} is not a list of texts", name);
      values->push_back(value.get<std::string>());
    }
  }
  auto patterns = parse_collections(collections, kMostPatterns);
  if (!patterns) return std::move(patterns).error();
  auto accounts = parse_dids(dids, kMostAccounts);
  if (!accounts) return std::move(accounts).error();
  auto operations = parse_choice("op", ops, known_operations());
  if (!operations) return std::move(operations).error();
  auto wanted = parse_choice("kind", kinds, known_kinds());
  if (!wanted) return std::move(wanted).error();
  return ChangeFilter{*std::move(patterns), *std::move(accounts), *std::move(operations),
                      *std::move(wanted)};
}

}  // namespace skua::change_feed
