#include "pipeline/known_events.hpp"

#include <algorithm>

#include "atproto/account_group.hpp"

namespace skua::pipeline {

KnownEvents::KnownEvents(const std::optional<tables::GroupCursors>& cursors) {
  if (!cursors) return;
  cursors_ = *cursors;
  last_ = *std::ranges::max_element(cursors_);
}

bool KnownEvents::has(const event::FramePeek& message) {
  if (last_ == 0 || message.seq == 0 || message.did.empty()) return false;
  if (message.seq > last_) {
    clear();
    return false;
  }
  return message.seq <= cursors_.at(atproto::account_group(message.did));
}

}  // namespace skua::pipeline
