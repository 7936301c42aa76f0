#pragma once

#include <cstddef>
#include <cstdint>

#include "base/seeded_hash.hpp"
#include "event/resolved_event.hpp"

namespace skua::writer {

/// Names a record by numbers, as a key of maps.
struct RecordId {
  std::int32_t actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey_number = 0;

  static RecordId of(const event::ResolvedEvent& event) {
    return {event.actor_id, event.collection_id, event.rkey_number};
  }
  friend bool operator==(const RecordId&, const RecordId&) = default;
  friend std::size_t hash_value(const RecordId& id) {
    const auto owner = static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.actor_id));
    const auto collection =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.collection_id));
    return seeded_hash(owner << 32U | collection, static_cast<std::uint64_t>(id.rkey_number));
  }
};

}  // namespace skua::writer
