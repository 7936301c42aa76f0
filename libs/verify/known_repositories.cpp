#include "verify/known_repositories.hpp"

#include <utility>

namespace skua::verify {
namespace {

/// The number of parsed keys: the messages of some minutes come from fewer accounts.
constexpr std::size_t kParsedKeys = 20'000;

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
