#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include <boost/system/result.hpp>

#include "atproto/collection_filter.hpp"
#include "change_feed/change_event.hpp"

namespace skua::change_feed {

/// The changes that a client wants; by default all. Never changes: any thread.
struct ChangeFilter {
  using Names = std::set<std::string, std::less<>>;

  /// Of records; other kinds have no collection and pass.
  atproto::CollectionFilter collections = {};
  // Empty: all.
  Names dids = {};
  Names ops = {};
  Names kinds = {};

  /// The end of a bootstrap passes unless `kinds` excludes it: it concerns all accounts.
  bool passes(const ChangeEvent& event) const;
};

/// The values that `ops` and `kinds` can have.
const ChangeFilter::Names& known_operations();
const ChangeFilter::Names& known_kinds();

/// A filter, or a message for the client.
template <class T>
using Checked = boost::system::result<T, std::string>;

/// Patterns of collections, such as `app.bsky.feed.*`.
Checked<atproto::CollectionFilter> parse_collections(std::span<const std::string> patterns,
                                                     std::size_t most);
Checked<ChangeFilter::Names> parse_dids(std::span<const std::string> dids, std::size_t most);
/// Each value is one of `known`.
Checked<ChangeFilter::Names> parse_choice(const std::string& parameter,
                                          std::span<const std::string> values,
                                          const ChangeFilter::Names& known);

}  // namespace skua::change_feed
