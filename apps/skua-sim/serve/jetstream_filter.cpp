#include "jetstream_filter.hpp"

#include <set>

namespace skua::sim {
namespace {

constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 10'000;

}  // namespace

bool JetstreamFilter::wants(const JetstreamEvent& event) const {
  if (!dids.empty() && !dids.contains(event.did)) return false;
  if (!kinds.empty() && !kinds.contains(event.kind)) return false;
  return event.kind != "commit" || collections.passes(event.collection);
}

boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids) {
  JetstreamFilter filter;
  for (const auto& collection : collections) {
    if (!atproto::is_collection_pattern(collection)) return "invalid collection: " + collection;
  }
  if (std::set(collections.begin(), collections.end()).size() > kMostCollections) {
    return std::string("too many wanted collections: > 100");
  }
  filter.collections = atproto::CollectionFilter(collections);
  for (const auto& did : dids) {
    if (!did.starts_with("did:")) return "invalid DID: " + did;
    filter.dids.insert(did);
  }
  if (filter.dids.size() > kMostDids) return std::string("too many wanted DIDs: > 10000");
  return filter;
}

}  // namespace skua::sim
