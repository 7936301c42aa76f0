#pragma once

#include <cstddef>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace skua::resolve {

/// A map with at most `capacity` entries that drops entries without recent use. A full young
/// generation becomes the old one, and entries that are found in the old one move to the young one.
/// No memory for an entry beyond the entry. Not thread-safe.
template <class Key, class Value, class Hash = boost::hash<Key>>
class GenerationalMap {
 public:
  explicit GenerationalMap(std::size_t capacity) : half_((capacity + 1) / 2) {}

  /// Null: not known. The pointer is good until the next call.
  const Value* find(const Key& key) {
    if (const auto place = young_.find(key); place != young_.end()) return &place->second;
    const auto place = old_.find(key);
    if (place == old_.end()) return nullptr;
    const Value value = place->second;
    old_.erase(place);
    return insert(key, value);
  }

  const Value* insert(const Key& key, const Value& value) {
    if (young_.size() >= half_) {
      has_forgotten_ = has_forgotten_ || !old_.empty();
      old_ = std::move(young_);
      young_ = {};
    }
    const auto [place, is_new] = young_.insert_or_assign(key, value);
    if (is_new) old_.erase(key);
    return &place->second;
  }

  std::size_t size() const { return young_.size() + old_.size(); }
  /// Whether anything that was inserted was dropped since. Half of the capacity always fits.
  bool has_forgotten() const { return has_forgotten_; }

 private:
  using Map = boost::unordered_flat_map<Key, Value, Hash>;
  std::size_t half_;
  bool has_forgotten_ = false;
  Map young_;
  Map old_;
};

}  // namespace skua::resolve
