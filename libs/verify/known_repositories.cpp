#include "verify/known_repositories.hpp"

#include <utility>

namespace skua::verify {
namespace {

/// Parsed keys at a time: what comes in some minutes from an account comes from few.
constexpr std::size_t kParsedKeys = 20'000;

}  // namespace

static_assert(sizeof(std::pair<const DidHash, KnownRepository>) <= 112);

RepositoryState KnownRepository::state() const {
  RepositoryState state;
  state.active = active_;
  if (rev_.value != 0) state.last = ChainLink{rev_, {atproto::Cid::kDagCbor, data_}};
  return state;
}

void KnownRepository::set_last(const ChainLink& link) {
  rev_ = link.rev;
  data_ = link.data.digest;
}

void KnownRepository::set_key(const std::optional<atproto::Multikey>& key, Timestamp now) {
  key_ = key;
  key_minute_ = static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count());
}

std::chrono::minutes KnownRepository::key_age(Timestamp now) const {
  const auto age = std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()) -
                   std::chrono::minutes(key_minute_);
  return age < age.zero() ? age.max() : age;
}

KnownRepositories::KnownRepositories(std::size_t capacity) : half_((capacity + 1) / 2) {}

KnownRepository* KnownRepositories::find(const DidHash& did) {
  if (const auto place = young_.find(did); place != young_.end()) return &place->second;
  const auto place = old_.find(did);
  if (place == old_.end()) return nullptr;
  const KnownRepository known = place->second;
  old_.erase(place);
  return put(did, known);
}

KnownRepository* KnownRepositories::put(const DidHash& did, const KnownRepository& repository) {
  if (young_.size() >= half_ && !young_.contains(did)) {
    old_ = std::move(young_);
    young_ = {};
  }
  const auto [place, is_new] = young_.insert_or_assign(did, repository);
  if (is_new) old_.erase(did);
  return &place->second;
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
