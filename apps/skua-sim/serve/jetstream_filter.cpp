#include "jetstream_filter.hpp"

#include <algorithm>

namespace skua::sim {
namespace {

constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 10'000;

/// Three segments at least; enough to tell a name from a mistake.
bool is_nsid(std::string_view text) {
  return std::ranges::count(text, '.') >= 2 && text.find('*') == std::string_view::npos &&
         !text.starts_with('.') && !text.ends_with('.');
}

}  // namespace

bool JetstreamFilter::wants(const JetstreamEvent& event) const {
  if (!dids.empty() && !dids.contains(event.did)) return false;
  if (!kinds.empty() && !kinds.contains(event.kind)) return false;
  if (event.kind != "commit" || (collections.empty() && prefixes.empty())) return true;
  return collections.contains(event.collection) ||
         std::ranges::any_of(prefixes, [&](const std::string& prefix) {
           return event.collection.starts_with(prefix);
         });
}

boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids) {
  JetstreamFilter filter;
  for (const auto& collection : collections) {
    if (collection.ends_with(".*")) {
      filter.prefixes.push_back(collection.substr(0, collection.size() - 1));
    } else if (is_nsid(collection)) {
      filter.collections.insert(collection);
    } else {
      return "invalid collection: " + collection;
    }
  }
  if (filter.collections.size() + filter.prefixes.size() > kMostCollections) {
    return std::string("too many wanted collections: > 100");
  }
  for (const auto& did : dids) {
    if (!did.starts_with("did:")) return "invalid DID: " + did;
    filter.dids.insert(did);
  }
  if (filter.dids.size() > kMostDids) return std::string("too many wanted DIDs: > 10000");
  return filter;
}

}  // namespace skua::sim
