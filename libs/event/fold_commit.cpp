#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "event/frame_decoder.hpp"

namespace skua::event {

void fold_commit(std::vector<UnresolvedEvent>& events) {
  if (events.size() < 2) return;

  struct Step {
    RecordChange* change;
    std::size_t index;
    auto key() const { return std::tie(change->collection, change->rkey, index); }
  };
  std::vector<Step> steps;
  steps.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (auto* change = std::get_if<RecordChange>(&events[i].body)) steps.push_back({change, i});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.key() < b.key(); });

  std::vector<bool> superseded;
  for (auto first = steps.begin(); first != steps.end();) {
    auto last = first;
    while (last + 1 != steps.end() && (last + 1)->change->rkey == first->change->rkey &&
           (last + 1)->change->collection == first->change->collection) {
      if (superseded.empty()) superseded.resize(events.size());
      superseded[last->index] = true;
      ++last;
    }
    // Only the first op shows whether the key existed before the commit.
    if (last != first && last->change->operation != Operation::Delete) {
      last->change->operation =
          first->change->operation == Operation::Create ? Operation::Create : Operation::Update;
    }
    first = last + 1;
  }
  if (superseded.empty()) return;

  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (superseded[i]) continue;
    if (kept != i) events[kept] = std::move(events[i]);
    ++kept;
  }
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(kept), events.end());
}

}  // namespace skua::event
