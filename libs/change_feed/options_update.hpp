#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::change_feed {

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

}  // namespace skua::change_feed
