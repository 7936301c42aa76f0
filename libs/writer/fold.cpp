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

Folded fold_batch(std::span<const event::ResolvedEvent> batch) {
  using Newest = boost::unordered_flat_map<Key, std::size_t, KeyHash>;
  Newest newest;
  Newest newest_deletes;
  newest.reserve(batch.size());
  const auto take = [&](Newest& map, const Key& key, std::size_t i) {
    const auto [place, inserted] = map.try_emplace(key, i);
    if (!inserted && batch[i].change().rev >= batch[place->second].change().rev) {
      place->second = i;
    }
  };
  const auto key_of = [&](std::size_t i) {
    return Key{batch[i].actor_id, batch[i].collection_id, batch[i].rkey_number};
  };
  const auto is_change = [&](std::size_t i) {
    return std::holds_alternative<event::RecordChange>(batch[i].event.body);
  };
  const auto is_delete = [&](std::size_t i) {
    return batch[i].change().operation == event::Operation::Delete;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) continue;
    take(newest, key_of(i), i);
    if (is_delete(i)) take(newest_deletes, key_of(i), i);
  }

  Folded folded;
  folded.survivors.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) {
      folded.survivors.push_back(i);
      continue;
    }
    const std::size_t survivor = newest.at(key_of(i));
    if (survivor == i) {
      folded.survivors.push_back(i);
    } else if (is_delete(i) && !is_delete(survivor) && newest_deletes.at(key_of(i)) == i) {
      folded.overtaken_deletes.push_back(i);
    }
  }
  return folded;
}

}  // namespace skua::writer
