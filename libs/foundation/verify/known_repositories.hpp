#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "atproto/repository_state.hpp"
#include "atproto/sha256.hpp"
#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "base/generational_map.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::verify {

/// Stands for a DID in memory. Has half of the DID's SHA-256, so that nobody can make two accounts
/// with the same hash.
struct DidHash {
  std::array<std::uint64_t, 2> halves{};

  static DidHash of(std::string_view did) {
    const atproto::Digest digest = atproto::sha256(as_bytes(did));
    DidHash hash;
    std::memcpy(hash.halves.data(), digest.data(), sizeof hash.halves);
    return hash;
  }
  friend bool operator==(const DidHash&, const DidHash&) = default;
  friend std::size_t hash_value(const DidHash& hash) {
    return seeded_hash(hash.halves[0], hash.halves[1]);
  }
};

/// The state of a repository that its messages are checked against, in at most 112 bytes including
/// its DID.
class KnownRepository {
 public:
  RepositoryState state() const;
  void set_head(const atproto::RepositoryHead& link);
  void set_active(bool active) { active_ = active; }
  bool active() const { return active_; }

  /// Sets the time from which the account is hidden, or nothing if the account is visible.
  void set_hidden(std::optional<Timestamp> since);
  /// Returns the time to the minute.
  std::optional<Timestamp> hidden_since() const;

  /// Whether the account's host may be asked about the account's hosting status. The limit is once
  /// an hour.
  bool may_ask_host(Timestamp now) const;
  void set_asked_host(Timestamp now);

  /// Sets the account's key as of `now`, or nothing if its DID document has no usable key.
  void set_key(const std::optional<atproto::Multikey>& key, Timestamp now);
  const std::optional<atproto::Multikey>& key() const { return key_; }
  /// Returns the time since the key was set, to the minute, or the longest time if the clock was
  /// set back since then.
  std::chrono::minutes key_age(Timestamp now) const;

 private:
  atproto::Tid rev_;  // 0 if no message was verified yet
  atproto::Digest data_{};
  std::optional<atproto::Multikey> key_;
  std::uint32_t key_minute_ = 0;
  std::uint32_t hidden_minute_ = 0;  // 0 if the account is visible
  std::uint32_t asked_minute_ = 0;   // 0 if the host was not asked
  bool active_ = true;
};

/// The repositories of recent messages, at most about `capacity`. A million repositories need 232
/// MB (bench/verify_bench). One thread.
class KnownRepositories {
 public:
  explicit KnownRepositories(std::size_t capacity) : repositories_(capacity) {}

  /// Returns null for an unknown repository. The pointer is valid until the next call of `find` or
  /// `put`.
  KnownRepository* find(const DidHash& did) { return repositories_.find(did); }
  KnownRepository* put(const DidHash& did, const KnownRepository& repository) {
    return repositories_.insert(did, repository);
  }

  /// Returns the parsed form of a key, or null if the key is not a point of its curve. Recently
  /// used keys stay parsed. The pointer is valid until the next call.
  const atproto::VerifyingKey* parsed_key(const atproto::Multikey& key);

  std::size_t size() const { return repositories_.size(); }

 private:
  struct KeyHash {
    std::size_t operator()(const atproto::Multikey& key) const {
      return seeded_hash(as_text(key.point));
    }
  };
  using Keys =
      boost::unordered_flat_map<atproto::Multikey, std::optional<atproto::VerifyingKey>, KeyHash>;

  GenerationalMap<DidHash, KnownRepository> repositories_;
  Keys keys_;
};

}  // namespace skua::verify
