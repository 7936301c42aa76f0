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

/// The changes that a client wants; by default all changes. Immutable, so any thread may use it.
struct ChangeFilter {
  using Names = std::set<std::string, std::less<>>;

  /// The collections of records. Other kinds of changes have no collection and pass this part.
  atproto::CollectionFilter collections = {};
  // An empty set lets all values pass.
  Names dids = {};
  Names ops = {};
  Names kinds = {};
  /// Messages of these topics pass.
  Names topics = {};

  /// Returns whether a change passes the filter. The end of a bootstrap concerns all accounts, so
  /// it passes unless `kinds` excludes it. A message has no account, so `dids` does not exclude it.
  bool passes(const ChangeEvent& event) const;
};

/// The values that `ops` and `kinds` can have.
const ChangeFilter::Names& known_operations();
const ChangeFilter::Names& known_kinds();

/// Either a valid value, or a message for the client.
template <class T>
using Checked = boost::system::result<T, std::string>;

/// Parses patterns of collections, such as `app.bsky.feed.*`.
Checked<atproto::CollectionFilter> parse_collections(std::span<const std::string> patterns,
                                                     std::size_t most);
Checked<ChangeFilter::Names> parse_dids(std::span<const std::string> dids, std::size_t most);
Checked<ChangeFilter::Names> parse_topics(std::span<const std::string> topics, std::size_t most);
/// Checks that each value is a member of `known`.
Checked<ChangeFilter::Names> parse_choice(const std::string& parameter,
                                          std::span<const std::string> values,
                                          const ChangeFilter::Names& known);

/// The values of a filter, as a client or an operator gives them.
struct FilterTexts {
  std::vector<std::string> collections = {};
  std::vector<std::string> dids = {};
  std::vector<std::string> ops = {};
  std::vector<std::string> kinds = {};
  std::vector<std::string> topics = {};
};
/// The maximum number of collections or topics, and of accounts.
struct FilterLimits {
  std::size_t patterns = 0;
  std::size_t accounts = 0;
};

/// Parses a filter. Messages pass only if it names the kind `message` or a topic. If it names
/// topics and no kinds, only messages pass, and with collections records too.
Checked<ChangeFilter> parse_change_filter(const FilterTexts& texts, const FilterLimits& limits);

/// The result of reading a message with which a client of Jetstream's form changes its options:
/// `{"type":"options_update","payload":{"wantedCollections":[...],"wantedDids":[...],...}}`.
struct OptionsUpdate {
  enum class Kind : std::uint8_t {
    Update,
    /// The message has another type, and no effect.
    Other,
    /// The message is not an object with a type.
    Malformed,
    /// The message is an update whose payload is missing or no object.
    NoPayload,
    /// A list of the payload is not a list of texts, or has too many texts.
    BadList,
  };
  Kind kind = Kind::Malformed;
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  /// Longer messages are not sent; 0 means no limit.
  std::int64_t max_bytes = 0;
};

/// The maximum number of texts in both lists together, and of other values. Reading ends when a
/// message has more.
inline constexpr std::size_t kMostOptionValues = 20'000;

/// Reads a message of a client. The cost is bounded, because the thread of the sockets calls this
/// function. No tree is built. Reading ends at the first value that no valid message has, at a
/// fourth level, or after kMostOptionValues values. Pure.
OptionsUpdate parse_options_update(std::string_view text);

}  // namespace skua::streams
