#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skua::atproto {

/// Whether a text names collections: an NSID (atproto.com/specs/nsid), or a prefix that ends in
/// `.*` and is an NSID with a name in place of the star.
bool is_collection_pattern(std::string_view text);

/// Which collections are wanted. Never changes: any thread.
class CollectionFilter {
 public:
  /// Passes all collections.
  CollectionFilter() = default;
  /// Passes the collections that a pattern names; without patterns: all.
  explicit CollectionFilter(std::span<const std::string> patterns);

  bool passes(std::string_view collection) const;
  bool passes_all() const { return names_.empty() && prefixes_.empty(); }

 private:
  std::vector<std::string> names_;     // sorted
  std::vector<std::string> prefixes_;  // with their last dot
};

}  // namespace skua::atproto
