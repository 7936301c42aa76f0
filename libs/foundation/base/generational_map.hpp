#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace skua {

/// A map with about `capacity` entries at most, which drops entries without recent use. A full
/// young generation becomes the old generation, and the previous old generation is dropped. `find`
/// moves an entry from the old generation to the young one. An entry needs no memory for its age.
/// The generations exchange their tables, and the second table gets the size of the first one at
/// once. After the young generation was full for the first time, the memory stays the same. One
/// thread.
template <class Key, class Value, class Hash = boost::hash<Key>>
class GenerationalMap {
 public:
  explicit GenerationalMap(std::size_t capacity) : half_((capacity + 1) / 2) {}

  /// Returns null for an unknown key. The pointer is valid until the next call.
  Value* find(const Key& key) {
    if (const auto place = young_.find(key); place != young_.end()) return &place->second;
    const auto place = old_.find(key);
    if (place == old_.end()) return nullptr;
    Value value = std::move(place->second);
    old_.erase(place);
    return insert(key, std::move(value));
  }

  /// Adds an entry, or replaces the value of a known key.
  Value* insert(const Key& key, Value value) {
    if (young_.size() >= half_ && !young_.contains(key)) {
      has_forgotten_ = has_forgotten_ || !old_.empty();
      std::swap(old_, young_);
      young_.clear();
      young_.reserve(old_.size());
    }
    const auto [place, is_new] = young_.insert_or_assign(key, std::move(value));
    if (is_new) old_.erase(key);
    return &place->second;
  }

  void erase(const Key& key) {
    young_.erase(key);
    old_.erase(key);
  }

  std::size_t size() const { return young_.size() + old_.size(); }
  /// Whether the map has dropped an entry. Half of the capacity always fits.
  bool has_forgotten() const { return has_forgotten_; }

 private:
  using Map = boost::unordered_flat_map<Key, Value, Hash>;

  std::size_t half_;
  bool has_forgotten_ = false;
  Map young_;
  Map old_;
};

}  // namespace skua
