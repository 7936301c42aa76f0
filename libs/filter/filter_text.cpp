#include "filter/filter_text.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace skua::filter {
namespace {

constexpr std::size_t kShown = 10;

std::string list_text(const std::vector<std::string>& names, const std::string& before = {}) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + before + names[i];
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<std::string> without(const std::vector<std::string>& all,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                      std::back_inserter(rest));
  return rest;
}

std::string accounts_text(const store::FilterContent& content) {
  if (content.dids.empty() && content.lists.empty()) return "all accounts";
  std::string text;
  if (!content.dids.empty()) {
    text = fmt::format("{} ({})", counted(content.dids.size(), "account"), list_text(content.dids));
  }
  if (!content.lists.empty()) {
    text += fmt::format("{}the accounts on {} ({})", text.empty() ? "" : " and ",
                        counted(content.lists.size(), "list"), list_text(content.lists));
  }
  return text;
}

}  // namespace

std::string filter_text(const store::FilterContent& content) {
  return fmt::format("{} of {}",
                     content.collections.empty() ? "all records" : list_text(content.collections),
                     accounts_text(content));
}

std::string change_text(const store::FilterChange& change) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& names, const char* sign) {
    if (!names.empty()) text += (text.empty() ? "" : ", ") + list_text(names, sign);
  };
  add(without(change.after.collections, change.before.collections), "+ ");
  add(without(change.before.collections, change.after.collections), "- ");
  add(without(change.after.dids, change.before.dids), "+ ");
  add(without(change.before.dids, change.after.dids), "- ");
  add(without(change.after.lists, change.before.lists), "+ ");
  add(without(change.before.lists, change.after.lists), "- ");
  return text;
}

}  // namespace skua::filter
