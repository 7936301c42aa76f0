#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skua::atproto {

/// Whether a text names collections: the text is an NSID (atproto.com/specs/nsid), or a prefix that
/// ends in `.*` and becomes an NSID when a name replaces the star.
bool is_collection_pattern(std::string_view text);

/// Selects collections by name or prefix. The filter is immutable, so any thread may use it.
class CollectionFilter {
 public:
  /// Passes all collections.
  CollectionFilter() = default;
  /// Passes the collections that a pattern names, or all collections if there are no patterns.
  explicit CollectionFilter(std::span<const std::string> patterns);

  bool passes(std::string_view collection) const;
  bool passes_all() const { return names_.empty() && prefixes_.empty(); }

 private:
  std::vector<std::string> names_;     // sorted
  std::vector<std::string> prefixes_;  // each ends in a dot
};

}  // namespace skua::atproto
