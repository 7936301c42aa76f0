#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "atproto/collection_filter.hpp"
#include "streams/change_event.hpp"

namespace skua::streams {

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

/// What a client of Jetstream's form asks for with a message
/// `{"type":"options_update","payload":{"wantedCollections":[...],"wantedDids":[...],...}}`.
struct OptionsUpdate {
  enum class Kind : std::uint8_t {
    Update,
    /// A message of another type, which has no effect.
    Other,
    /// Not an object with a type.
    Malformed,
    /// An update without a payload that is an object.
    NoPayload,
    /// A list of the payload is not a list of texts, or has too many.
    BadList,
  };
  Kind kind = Kind::Malformed;
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  /// Longer messages are left out; 0: no limit.
  std::int64_t max_bytes = 0;
};

/// Texts in both lists together, and other values, beyond which a message is not read to its end.
inline constexpr std::size_t kMostOptionValues = 20'000;

/// Reads a message of a client. The cost is bounded, because the thread of the sockets calls it: no
/// tree is built, and reading ends at the first value that no message has, at a fourth level, or
/// beyond kMostOptionValues. Pure.
OptionsUpdate parse_options_update(std::string_view text);

}  // namespace skua::streams
