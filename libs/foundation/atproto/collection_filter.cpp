#include "atproto/collection_filter.hpp"

#include <algorithm>
#include <functional>

#include "atproto/syntax.hpp"

namespace skua::atproto {

bool is_collection_pattern(std::string_view text) {
  if (!text.ends_with(".*")) return is_nsid(text);
  return is_nsid(std::string(text.substr(0, text.size() - 1)) + "any");
}

CollectionFilter::CollectionFilter(std::span<const std::string> patterns) {
  for (const std::string& pattern : patterns) {
    if (pattern.ends_with(".*")) {
      prefixes_.push_back(pattern.substr(0, pattern.size() - 1));
    } else {
      names_.push_back(pattern);
    }
  }
  std::sort(names_.begin(), names_.end());
}

bool CollectionFilter::passes(std::string_view collection) const {
  if (passes_all()) return true;
  return std::binary_search(names_.begin(), names_.end(), collection, std::less<>()) ||
         std::any_of(prefixes_.begin(), prefixes_.end(),
                     [&](const std::string& prefix) { return collection.starts_with(prefix); });
}

}  // namespace skua::atproto
