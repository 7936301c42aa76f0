#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/generational_map.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"

namespace skua {

/// The part of a resource that one key may use: `burst` units at once, and one more unit each
/// `every`. A key is an account or a host; the unit is that of the resource, such as a download or
/// a byte.
struct Share {
  std::uint64_t burst = 1;
  std::chrono::nanoseconds every{};
};

/// Limits the use of one resource by many keys, so that no key uses the part of the others. A key
/// without recent use has its whole share. This is the generic cell rate algorithm: each key has
/// one time, at which its share is unused again.
///
/// Needs about 48 bytes and the name for each key, for `most_keys` at most. A key that was
/// forgotten has its whole share again. So `most_keys` must be larger than the number of keys that
/// can use up a share within the time that a share needs to return. The clock must not be the local
/// wall clock. One thread.
class Shares {
 public:
  explicit Shares(Share share, std::size_t most_keys = 100'000)
      : share_(share), unused_at_(most_keys) {}

  /// Uses `amount` units of the key's share. Returns false, and uses nothing, if fewer units are
  /// left. An amount above the burst counts as the burst.
  bool take(std::string_view key, std::uint64_t amount, Timestamp now) {
    Timestamp& unused_at = unused_at_of(key, now);
    const Timestamp after = unused_at + cost(amount);
    if (after > now + cost(share_.burst)) return false;
    unused_at = after;
    return true;
  }

  /// Uses `amount` units in any case, for work whose cost is known only afterwards. A key owes at
  /// most one burst, so that it has a unit again after the time of a burst at the latest.
  void charge(std::string_view key, std::uint64_t amount, Timestamp now) {
    Timestamp& unused_at = unused_at_of(key, now);
    unused_at = std::min(unused_at + cost(amount), now + 2 * cost(share_.burst));
  }

  /// Returns the time at which one unit is left: `now`, or later. Uses nothing.
  Timestamp next(std::string_view key, Timestamp now) {
    return std::max(now, unused_at_of(key, now) + cost(1) - cost(share_.burst));
  }

  /// Uses one unit in any case. Returns the time at which the key has this unit: `now`, or later.
  /// Reservations are granted in the order of the calls.
  Timestamp reserve(std::string_view key, Timestamp now) {
    Timestamp& unused_at = unused_at_of(key, now);
    unused_at += cost(1);
    return std::max(now, unused_at - cost(share_.burst));
  }

 private:
  Timestamp::duration cost(std::uint64_t amount) const {
    return std::chrono::ceil<Timestamp::duration>(share_.every * std::min(amount, share_.burst));
  }

  Timestamp& unused_at_of(std::string_view key, Timestamp now) {
    Timestamp* known = unused_at_.find(std::string(key));
    if (known == nullptr) known = unused_at_.insert(std::string(key), now);
    *known = std::max(*known, now);
    return *known;
  }

  const Share share_;
  GenerationalMap<std::string, Timestamp, SeededHash> unused_at_;
};

}  // namespace skua
