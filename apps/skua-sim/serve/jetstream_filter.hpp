#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "atproto/collection_filter.hpp"
#include "jetstream_log.hpp"

namespace skua::sim {

/// What a subscriber of a Jetstream wants; by default everything.
struct JetstreamFilter {
  std::set<std::string, std::less<>> dids;
  atproto::CollectionFilter collections;
  /// v2 only.
  std::set<std::string, std::less<>> kinds;
  /// Of the uncompressed message; 0: none is too long.
  std::size_t longest = 0;

  /// Identities and accounts have no collection and come always.
  bool wants(const JetstreamEvent& event) const;
};

/// Takes NSIDs and `prefix.*`, 100 at most, and DIDs, 10,000 at most. The error says what is wrong.
boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids);

}  // namespace skua::sim
