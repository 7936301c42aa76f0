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

/// The filter of a Jetstream subscriber; by default everything passes.
struct JetstreamFilter {
  std::set<std::string, std::less<>> dids;
  atproto::CollectionFilter collections;
  /// v2 only.
  std::set<std::string, std::less<>> kinds;
  /// The limit for the uncompressed message; 0: no limit.
  std::size_t longest = 0;

  /// Identity and account events have no collection and always pass.
  bool wants(const JetstreamEvent& event) const;
};

/// Accepts at most 100 NSIDs and `prefix.*`, and at most 10,000 DIDs. The error is a message.
boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids);

}  // namespace skua::sim
