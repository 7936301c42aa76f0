#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "atproto/sha256.hpp"
#include "base/account_number.hpp"
#include "base/generational_map.hpp"
#include "base/guarded.hpp"
#include "base/seeded_hash.hpp"

namespace skua::ids {

/// The keys of new rows that threads of this process are inserting. If two threads inserted the
/// same row at once, a number would be lost, because `ON CONFLICT` takes a number before it sees
/// the conflict, or a whole COPY would fail. `Given` is the type of a key in calls, `Key` its
/// stored type.
template <class Key, class Given = Key, class Hash = boost::hash<Key>>
class Claims {
 public:
  /// The claims of one thread. The destructor releases them.
  class Held {
   public:
    Held(Claims& claims, std::span<const Given> wanted) : claims_(claims) {
      const std::scoped_lock lock(claims_.mutex_);
      for (const Given& key : wanted) {
        (claims_.held_.emplace(key).second ? mine_ : others_).push_back(key);
      }
    }
    ~Held() { claims_.release(mine_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Returns the keys of `wanted` that no other thread holds, in their order.
    const std::vector<Given>& mine() const { return mine_; }
    /// Returns the keys of `wanted` that other threads hold.
    const std::vector<Given>& others() const { return others_; }

   private:
    Claims& claims_;
    std::vector<Given> mine_;
    std::vector<Given> others_;
  };

  /// The claims of one thread on all of `wanted`. The constructor waits until no other thread holds
  /// any of these keys. The caller must hold no claims.
  class HeldAll {
   public:
    HeldAll(Claims& claims, std::vector<Given> wanted) : claims_(claims), keys_(std::move(wanted)) {
      std::unique_lock lock(claims_.mutex_);
      claims_.wait_for(keys_, lock);
      for (const Given& key : keys_) claims_.held_.emplace(key);
    }
    ~HeldAll() { claims_.release(keys_); }
    const std::vector<Given>& keys() const { return keys_; }
    HeldAll(const HeldAll&) = delete;
    HeldAll& operator=(const HeldAll&) = delete;

   private:
    Claims& claims_;
    const std::vector<Given> keys_;
  };

  /// Waits until no thread holds any of `keys`. The caller must hold no claims.
  void wait_for(std::span<const Given> keys) {
    std::unique_lock lock(mutex_);
    wait_for(keys, lock);
  }

 private:
  void wait_for(std::span<const Given> keys, std::unique_lock<std::mutex>& lock) {
    released_.wait(lock, [&] {
      return std::none_of(keys.begin(), keys.end(),
                          [&](const Given& key) { return held_.contains(Key(key)); });
    });
  }

  void release(std::span<const Given> keys) {
    {
      const std::scoped_lock lock(mutex_);
      for (const Given& key : keys) held_.erase(Key(key));
    }
    released_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable released_;
  boost::unordered_flat_set<Key, Hash> held_;
};

/// The cache of `bsky.actors.id` by DID, for all threads of the process. It holds at most
/// `capacity` DIDs, with at most 50 bytes for a did:plc. Only committed ids may be inserted,
/// because they never change.
class IdCache {
 public:
  explicit IdCache(std::size_t capacity);

  /// Returns 0 if the cache does not have the DID.
  AccountNumber find(std::string_view did);
  void insert(std::string_view did, AccountNumber id);
  std::size_t size() const;
  /// The number of entries that always fit.
  std::size_t room() const { return capacity_ * 3 / 8; }

  /// Whether an account that is not in the cache has no row: `fill_with_actors` has read all rows,
  /// and the cache has dropped none of them. Other processes may have inserted rows since then, so
  /// the caller must handle a conflict.
  bool holds_all() const { return holds_all_; }
  void set_holds_all(bool holds_all) { holds_all_ = holds_all; }

 private:
  static constexpr std::size_t kShards = 16;

  /// The 24 base32 characters of a did:plc, 5 bits each. The struct has no padding, because the
  /// cache stores millions of keys.
  struct [[gnu::packed, gnu::aligned(4)]] PlcKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const PlcKey&, const PlcKey&) = default;
    friend std::size_t hash_value(const PlcKey& key) {
      // The hash needs a seed, because an attacker can choose the characters of a did:plc: nothing
      // checks that they are a hash.
      return seeded_hash(key.high, key.low);
    }
  };
  static bool parse_plc(std::string_view did, PlcKey& key);

  struct Shard {
    explicit Shard(std::size_t capacity) : plc(capacity), other(capacity / 16 + 1) {}
    GenerationalMap<PlcKey, AccountNumber> plc;
    /// The DIDs of did:web and of other methods, which are few.
    GenerationalMap<std::string, AccountNumber, SeededHash> other;
  };
  Guarded<Shard>& shard_of(std::size_t hash) { return shards_[(hash >> 32) % kShards]; }

  const std::size_t capacity_;
  std::atomic<bool> holds_all_ = false;
  std::array<Guarded<Shard>, kShards> shards_;
};

/// A bounded set of posts that have a row, including stubs, for all threads. Only committed posts
/// may be inserted. Retention removes rows of posts that have no first CID, and does not remove
/// them from the set. The worst consequence is that a stub is missing.
///
/// The set also has a hash of the first CID of a post, if the process knows it (ADR 16). The first
/// CID of a committed row never changes. Nobody outside of the process can find two CIDs with the
/// same hash.
class KnownPosts {
 public:
  /// The struct has no padding, because the set stores millions of keys.
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

  /// The hash of a CID; kNoCid if the row has no first CID, or if it is not known.
  using CidHash = std::uint64_t;
  static constexpr CidHash kNoCid = 0;
  static CidHash hash_of(const atproto::Digest& cid);

  /// Returns the hash of the first CID of a post in the set.
  std::optional<CidHash> find(const Key& key);
  bool contains(const Key& key) { return find(key).has_value(); }
  void insert(const Key& key, CidHash first_cid = kNoCid);

  /// Whether references may rely on the first CIDs of rows. They may not before the first
  /// `looked_for_retention`, and not after one that found a retention of posts, which deletes rows.
  /// A process that has found one does not begin again, because the set may contain posts whose
  /// rows were deleted.
  bool relies_on_first_cids() const { return relies_on_first_cids_; }
  /// Returns true once a minute, for one of the calling threads: it must look whether posts have a
  /// retention.
  bool is_look_due(std::chrono::steady_clock::time_point now);
  void looked_for_retention(bool has_retention);

  /// Whether posts that are not in the set probably have no row, because several large look-ups in
  /// a row found none. This is so in a small database that this process fills. The answer may be
  /// wrong, so the caller must handle a conflict.
  bool seems_complete() const { return vain_look_ups_ >= kVainLookUps; }
  /// Reports whether a look-up or an insert of many posts that are not in the set found a row.
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
  using Shard = GenerationalMap<Key, CidHash>;
  Guarded<Shard>& shard_of(const Key& key) { return shards_[(hash_value(key) >> 32) % kShards]; }

  std::atomic<std::uint32_t> vain_look_ups_ = 0;
  std::atomic<bool> relies_on_first_cids_ = false;
  std::atomic<bool> has_found_retention_ = false;
  /// The time of the next look on the steady clock; 0 before the first one.
  std::atomic<std::chrono::steady_clock::rep> next_look_ = 0;
  std::array<Guarded<Shard>, kShards> shards_;
};

}  // namespace skua::ids
