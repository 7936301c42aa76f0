#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/seeded_hash.hpp"

namespace skua::identity {

/// A map that never holds more than about `capacity` entries and forgets those that were not asked
/// for: of two generations the older is dropped whole when the younger is full. One thread.
template <class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : half_(capacity / 2 + 1) {}

  /// Null: not there. The pointer holds until the next call.
  const Value* find(const std::string& key) {
    if (const auto place = young_.find(key); place != young_.end()) return &place->second;
    const auto place = old_.find(key);
    if (place == old_.end()) return nullptr;
    Value value = std::move(place->second);
    old_.erase(place);
    return put(key, std::move(value));
  }

  const Value* put(const std::string& key, Value value) {
    old_.erase(key);
    if (young_.size() >= half_ && !young_.contains(key)) {
      old_ = std::move(young_);
      young_ = {};
    }
    return &young_.insert_or_assign(key, std::move(value)).first->second;
  }

  void erase(const std::string& key) {
    young_.erase(key);
    old_.erase(key);
  }

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Map = boost::unordered_flat_map<std::string, Value, SeededHash>;

  const std::size_t half_;
  Map young_;
  Map old_;
};

}  // namespace skua::identity
