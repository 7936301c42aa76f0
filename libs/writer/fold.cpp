#include "writer/fold.hpp"

#include <variant>

#include <boost/unordered/unordered_flat_map.hpp>

#include "writer/record_key.hpp"

namespace skua::writer {

Folded fold_batch(std::span<const event::ResolvedEvent* const> batch) {
  using Newest = boost::unordered_flat_map<RecordKey, std::size_t>;
  Newest newest;
  Newest newest_deletes;
  newest.reserve(batch.size());
  const auto take = [&](Newest& map, const RecordKey& key, std::size_t i) {
    const auto [place, inserted] = map.try_emplace(key, i);
    if (!inserted && batch[i]->change().rev >= batch[place->second]->change().rev) {
      place->second = i;
    }
  };
  const auto key_at = [&](std::size_t i) { return key_of(*batch[i]); };
  const auto is_change = [&](std::size_t i) {
    return std::holds_alternative<event::RecordChange>(batch[i]->event.body);
  };
  const auto is_delete = [&](std::size_t i) {
    return batch[i]->change().operation == event::Operation::Delete;
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) continue;
    take(newest, key_at(i), i);
    if (is_delete(i)) take(newest_deletes, key_at(i), i);
  }

  Folded folded;
  folded.survivors.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_change(i)) {
      folded.survivors.push_back(i);
      continue;
    }
    const std::size_t survivor = newest.at(key_at(i));
    if (survivor == i) {
      folded.survivors.push_back(i);
    } else if (is_delete(i) && !is_delete(survivor) && newest_deletes.at(key_at(i)) == i) {
      folded.overtaken_deletes.push_back(i);
    }
  }
  return folded;
}

}  // namespace skua::writer
