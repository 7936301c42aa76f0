#include "change_feed/change_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "atproto/syntax.hpp"

namespace skua::change_feed {
namespace {

bool passes_name(const ChangeFilter::Names& names, const std::string& name) {
  return names.empty() || names.contains(name);
}

}  // namespace

bool ChangeFilter::passes(const ChangeEvent& event) const {
  if (!passes_name(kinds, event.kind)) return false;
  if (event.kind == "bootstrap") return true;
  return passes_name(ops, event.op) && passes_name(dids, event.did) &&
         (event.kind != "record" || collections.passes(event.collection));
}

const ChangeFilter::Names& known_operations() {
  static const ChangeFilter::Names kOperations{"create", "update", "delete"};
  return kOperations;
}

const ChangeFilter::Names& known_kinds() {
  static const ChangeFilter::Names kKinds{"record", "account",   "handle",
                                          "label",  "bootstrap", "rules"};
  return kKinds;
}

Checked<atproto::CollectionFilter> parse_collections(std::span<const std::string> patterns,
                                                     std::size_t most) {
  if (patterns.size() > most) return fmt::format("more than {} collections", most);
  for (const auto& pattern : patterns) {
    if (!atproto::is_collection_pattern(pattern)) {
      return fmt::format("not a collection: '{}'; expected app.bsky.feed.post or app.bsky.feed.*",
                         pattern);
    }
  }
  return atproto::CollectionFilter(patterns);
}

Checked<ChangeFilter::Names> parse_dids(std::span<const std::string> dids, std::size_t most) {
  if (dids.size() > most) return fmt::format("more than {} accounts", most);
  for (const auto& did : dids) {
    if (!atproto::is_did(did)) return fmt::format("not a DID: '{}'", did);
  }
  return ChangeFilter::Names(dids.begin(), dids.end());
}

Checked<ChangeFilter::Names> parse_choice(const std::string& parameter,
                                          std::span<const std::string> values,
                                          const ChangeFilter::Names& known) {
  for (const auto& value : values) {
    if (!known.contains(value)) {
      return fmt::format("{}: '{}' is not one of {}", parameter, value, fmt::join(known, ", "));
    }
  }
  return ChangeFilter::Names(values.begin(), values.end());
}

}  // namespace skua::change_feed
