#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/account_number.hpp"
#include "base/generational_map.hpp"
#include "base/guarded.hpp"
#include "base/seeded_hash.hpp"

namespace skua::resolve {

/// DID -> `bsky.actors.id`, for all threads of the process. Holds at most `capacity` DIDs, 50 bytes
/// each at most for a did:plc. Only committed ids may go in: they never change.
class IdCache {
 public:
  explicit IdCache(std::size_t capacity);

  /// 0: not known here.
  AccountNumber find(std::string_view did);
  void insert(std::string_view did, AccountNumber id);
  std::size_t size() const;
  /// The number of entries that always fit.
  std::size_t room() const { return capacity_ * 3 / 8; }

  /// Whether accounts that are not in the cache have no row: `fill_with_actors` has read all rows,
  /// and the cache has dropped none. Other processes may have inserted rows since then, so the
  /// caller must handle a conflict.
  bool holds_all() const { return holds_all_; }
  void set_holds_all(bool holds_all) { holds_all_ = holds_all; }

 private:
  static constexpr std::size_t kShards = 16;

  /// The 24 base32 characters of a did:plc, 5 bits each. No padding: millions are stored.
  struct [[gnu::packed, gnu::aligned(4)]] PlcKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const PlcKey&, const PlcKey&) = default;
    friend std::size_t hash_value(const PlcKey& key) {
      // The hash needs a seed: nothing checks that the characters of a DID are those of a hash.
      return seeded_hash(key.high, key.low);
    }
  };
  static bool parse_plc(std::string_view did, PlcKey& key);

  struct Shard {
    explicit Shard(std::size_t capacity) : plc(capacity), other(capacity / 16 + 1) {}
    GenerationalMap<PlcKey, AccountNumber> plc;
    /// did:web and other methods: few.
    GenerationalMap<std::string, AccountNumber, SeededHash> other;
  };
  Guarded<Shard>& shard_of(std::size_t hash) { return shards_[(hash >> 32) % kShards]; }

  const std::size_t capacity_;
  std::atomic<bool> holds_all_ = false;
  std::array<Guarded<Shard>, kShards> shards_;
};

/// A bounded set of posts that have a row, also a stub, for all threads. Only committed posts may
/// be inserted. Only the purge of an account deletes rows of posts; the set is not told, so at
/// worst a stub is missing.
class KnownPosts {
 public:
  /// No padding: millions are stored.
  struct [[gnu::packed, gnu::aligned(4)]] Key {
    AccountNumber actor_id = 0;
    std::int64_t rkey = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
    friend std::size_t hash_value(const Key& key) {
      return seeded_hash(static_cast<std::uint64_t>(key.rkey),
                         static_cast<std::uint64_t>(key.actor_id));
    }
  };

  explicit KnownPosts(std::size_t capacity);

  bool contains(const Key& key);
  void insert(const Key& key);

  /// Whether posts that are not in the cache probably have no row, as in a small database that this
  /// process fills: several large look-ups in a row found none. This may be wrong, so the caller
  /// must handle a conflict.
  bool seems_complete() const { return vain_look_ups_ >= kVainLookUps; }
  /// The result of a look-up, or of an insert, of many posts that are not in the cache.
  void looked_up(bool found_any) {
    if (found_any) {
      vain_look_ups_ = 0;
    } else {
      ++vain_look_ups_;
    }
  }

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint32_t kVainLookUps = 16;
  struct Nothing {};
  using Shard = GenerationalMap<Key, Nothing>;
  Guarded<Shard>& shard_of(const Key& key) { return shards_[(hash_value(key) >> 32) % kShards]; }

  std::atomic<std::uint32_t> vain_look_ups_ = 0;
  std::array<Guarded<Shard>, kShards> shards_;
};

}  // namespace skua::resolve
