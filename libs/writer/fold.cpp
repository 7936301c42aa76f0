#include "writer/fold.hpp"

#include <cstdint>
#include <variant>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace skua::writer {
namespace {

struct Key {
  std::int32_t actor_id;
  std::int32_t collection_id;
  std::int64_t rkey_number;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t seed = 0;
    boost::hash_combine(seed, key.actor_id);
    boost::hash_combine(seed, key.collection_id);
    boost::hash_combine(seed, key.rkey_number);
    return seed;
  }
};

}  // namespace

std::vector<std::size_t> fold_batch(std::span<const event::ResolvedEvent> batch) {
  boost::unordered_flat_map<Key, std::size_t, KeyHash> newest;
  newest.reserve(batch.size());
  std::vector<bool> survives(batch.size(), true);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto* change = std::get_if<event::RecordChange>(&batch[i].event.body);
    if (change == nullptr) continue;
    const Key key{batch[i].actor_id, batch[i].collection_id, batch[i].rkey_number};
    const auto [place, inserted] = newest.try_emplace(key, i);
    if (inserted) continue;
    if (change->rev >= batch[place->second].change().rev) {
      survives[place->second] = false;
      place->second = i;
    } else {
      survives[i] = false;
    }
  }
  std::vector<std::size_t> indices;
  indices.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (survives[i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace skua::writer
