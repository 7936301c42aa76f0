#include "verify/known_repositories.hpp"

#include <algorithm>
#include <utility>

namespace skua::verify {
namespace {

/// The number of parsed keys that are kept. The messages of some minutes come from fewer accounts.
constexpr std::size_t kParsedKeys = 20'000;

std::uint32_t minute_of(Timestamp time) {
  return static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count());
}

}  // namespace

static_assert(sizeof(std::pair<const DidHash, KnownRepository>) <= 112);

RepositoryState KnownRepository::state() const {
  RepositoryState state;
  state.active = active_;
  if (rev_.value != 0) state.head = atproto::RepositoryHead{rev_, {atproto::Cid::kDagCbor, data_}};
  return state;
}

void KnownRepository::set_head(const atproto::RepositoryHead& link) {
  rev_ = link.rev;
  data_ = link.data.digest;
}

void KnownRepository::set_hidden(std::optional<Timestamp> since) {
  hidden_minute_ = since ? std::max(minute_of(*since), 1U) : 0;
}

std::optional<Timestamp> KnownRepository::hidden_since() const {
  if (hidden_minute_ == 0) return std::nullopt;
  return Timestamp(std::chrono::minutes(hidden_minute_));
}

bool KnownRepository::may_ask_host(Timestamp now) const {
  constexpr std::uint32_t kPause = 60;
  return asked_minute_ == 0 || minute_of(now) >= asked_minute_ + kPause;
}

void KnownRepository::set_asked_host(Timestamp now) {
  asked_minute_ = minute_of(now);
}

void KnownRepository::set_key(const std::optional<atproto::Multikey>& key, Timestamp now) {
  key_ = key;
  key_minute_ = minute_of(now);
}

std::chrono::minutes KnownRepository::key_age(Timestamp now) const {
  const auto age = std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()) -
                   std::chrono::minutes(key_minute_);
  return age < age.zero() ? age.max() : age;
}

const atproto::VerifyingKey* KnownRepositories::parsed_key(const atproto::Multikey& key) {
  auto place = keys_.find(key);
  if (place == keys_.end()) {
    if (keys_.size() >= kParsedKeys) keys_.clear();
    std::optional<atproto::VerifyingKey> parsed;
    if (auto usable = atproto::VerifyingKey::from_multikey(key)) parsed = *std::move(usable);
    place = keys_.emplace(key, std::move(parsed)).first;
  }
  return place->second ? &*place->second : nullptr;
}

}  // namespace skua::verify
