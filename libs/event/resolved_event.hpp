#pragma once

#include <cstdint>

#include "base/account_number.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// An event with the numbers of its account, key and references. The record's references are
/// resolved in place (`ActorRef::id`, `RecordRef::actor_id` and so on).
struct ResolvedEvent {
  UnresolvedEvent event;
  AccountNumber actor_id = 0;
  /// The collection of a record change; otherwise 0.
  std::int32_t collection_id = 0;
  std::int64_t rkey_number = 0;

  records::Decoded& record() { return change().record; }
  const records::Decoded& record() const { return change().record; }
  RecordChange& change() { return std::get<RecordChange>(event.body); }
  const RecordChange& change() const { return std::get<RecordChange>(event.body); }
};

}  // namespace skua::event
