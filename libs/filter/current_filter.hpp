#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "store/filter_table.hpp"

namespace skua::filter {

/// The filter that a process goes by at this moment: each snapshot never changes, and is replaced
/// as a whole. At first everything passes. Any thread.
class CurrentFilter {
 public:
  using Snapshot = std::shared_ptr<const store::Filter>;

  Snapshot get() const {
    return snapshot_.with([](const Snapshot& snapshot) { return snapshot; });
  }

  /// Replaces it, then calls the listeners, on this thread.
  void set(Snapshot next) {
    snapshot_.with([&](Snapshot& snapshot) { snapshot = std::move(next); });
    listeners_.with([](const auto& listeners) {
      for (const auto& [owner, changed] : listeners) changed();
    });
  }

  /// `changed` must be quick. `owner` names it to `forget`, after which it is not called any more.
  void listen(const void* owner, std::function<void()> changed) {
    listeners_.with([&](auto& listeners) { listeners.emplace_back(owner, std::move(changed)); });
  }
  void forget(const void* owner) {
    listeners_.with([&](auto& listeners) {
      std::erase_if(listeners, [&](const auto& listener) { return listener.first == owner; });
    });
  }

 private:
  using Listeners = std::vector<std::pair<const void*, std::function<void()>>>;

  Guarded<Snapshot> snapshot_{std::make_shared<const store::Filter>()};
  Guarded<Listeners> listeners_;
};

}  // namespace skua::filter
