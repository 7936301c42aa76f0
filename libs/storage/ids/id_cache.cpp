#include "ids/id_cache.hpp"

#include <array>
#include <utility>

#include "atproto/syntax.hpp"
#include "base/account_number.hpp"
#include "base/seeded_hash.hpp"

namespace skua::ids {

namespace {

template <class Shard, std::size_t... I>
std::array<Guarded<Shard>, sizeof...(I)> make_shards(std::size_t capacity,
                                                     std::index_sequence<I...>) {
  const std::size_t each = capacity / sizeof...(I) + 1;
  return {((void)I, Guarded<Shard>(Shard(each)))...};
}

/// The value, in five bits, of each character of base32; 32 for all other characters.
constexpr std::array<std::uint8_t, 256> kBase32 = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(32);
  for (std::uint8_t i = 0; i < 26; ++i) values[std::uint8_t{'a'} + i] = i;
  for (std::uint8_t i = 0; i < 6; ++i) values[std::uint8_t{'2'} + i] = std::uint8_t(26 + i);
  return values;
}();

constexpr std::size_t kPlcCharacters = 24;

}  // namespace

IdCache::IdCache(std::size_t capacity)
    : capacity_(capacity),
      shards_(make_shards<Shard>(capacity, std::make_index_sequence<kShards>())) {}

bool IdCache::parse_plc(std::string_view did, PlcKey& key) {
  if (did.size() != atproto::kPlcPrefix.size() + kPlcCharacters || !atproto::is_plc_did(did))
    return false;
  const std::string_view text = did.substr(atproto::kPlcPrefix.size());
  std::array<std::uint64_t, 2> halves{};
  for (std::size_t i = 0; i < kPlcCharacters; ++i) {
    const std::uint64_t value = kBase32[static_cast<std::uint8_t>(text[i])];
    if (value == 32) return false;
    std::uint64_t& half = halves[i / (kPlcCharacters / 2)];
    half = half << 5 | value;
  }
  key = {halves[0], halves[1]};
  return true;
}

AccountNumber IdCache::find(std::string_view did) {
  const auto value_of = [](const AccountNumber* id) { return id == nullptr ? 0 : *id; };
  if (PlcKey key; parse_plc(did, key)) {
    return shard_of(hash_value(key)).with([&](Shard& shard) {
      return value_of(shard.plc.find(key));
    });
  }
  return shard_of(seeded_hash(did)).with([&](Shard& shard) {
    return value_of(shard.other.find(std::string(did)));
  });
}

void IdCache::insert(std::string_view did, AccountNumber id) {
  if (PlcKey key; parse_plc(did, key)) {
    shard_of(hash_value(key)).with([&](Shard& shard) {
      shard.plc.insert(key, id);
      if (shard.plc.has_forgotten()) holds_all_ = false;
    });
  } else {
    shard_of(seeded_hash(did)).with([&](Shard& shard) {
      shard.other.insert(std::string(did), id);
      if (shard.other.has_forgotten()) holds_all_ = false;
    });
  }
}

std::size_t IdCache::size() const {
  std::size_t size = 0;
  for (const auto& shard : shards_) {
    shard.with([&](const Shard& entries) { size += entries.plc.size() + entries.other.size(); });
  }
  return size;
}

KnownPosts::KnownPosts(std::size_t capacity)
    : shards_(make_shards<Shard>(capacity, std::make_index_sequence<kShards>())) {}

KnownPosts::CidHash KnownPosts::hash_of(const atproto::Digest& cid) {
  static const SipKey kKey = {seeded_hash(1, 0), seeded_hash(2, 0)};
  const CidHash hash = sip_hash(kKey, {reinterpret_cast<const char*>(cid.data()), cid.size()});
  return hash == kNoCid ? 1 : hash;
}

std::optional<KnownPosts::CidHash> KnownPosts::find(const Key& key) {
  return shard_of(key).with([&](Shard& shard) -> std::optional<CidHash> {
    const CidHash* const hash = shard.find(key);
    if (hash == nullptr) return std::nullopt;
    return *hash;
  });
}

void KnownPosts::insert(const Key& key, CidHash first_cid) {
  shard_of(key).with([&](Shard& shard) { shard.insert(key, first_cid); });
}

bool KnownPosts::is_look_due(std::chrono::steady_clock::time_point now) {
  constexpr std::chrono::minutes kInterval{1};
  auto next = next_look_.load();
  if (now.time_since_epoch().count() < next) return false;
  // The last look may be long ago, if no post was mentioned since. Until the thread has looked, the
  // other threads must not rely on it.
  relies_on_first_cids_ = false;
  return next_look_.compare_exchange_strong(next, (now + kInterval).time_since_epoch().count());
}

void KnownPosts::looked_for_retention(bool has_retention) {
  if (has_retention) has_found_retention_ = true;
  relies_on_first_cids_ = !has_found_retention_;
}

}  // namespace skua::ids
