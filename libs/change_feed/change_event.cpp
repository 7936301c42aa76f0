#include "change_feed/change_event.hpp"

namespace skua::change_feed {

std::size_t ChangeEvent::bytes() const {
  std::size_t sum = sizeof(ChangeEvent) + did.size() + collection.size() + rkey.size() +
                    cid.size() + record.size() + handle.size() + val.size() + label.size();
  for (const auto& reference : references) sum += sizeof reference + reference.target.size();
  return sum;
}

}  // namespace skua::change_feed
