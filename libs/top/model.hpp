#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "top/poller.hpp"
#include "top/snapshot.hpp"

namespace skua::top {

/// The sizes of a database at one time.
struct FirstSize {
  std::chrono::steady_clock::time_point at;
  double bytes = 0;
  std::map<std::string, double> tables;
};

/// What the answers of the pages say. An answer that cannot be used leaves the former one in place.
/// One thread.
class Model {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void add(const Answer& answer);

  Snapshot snapshot(TimePoint now) const;

 private:
  struct PageState {
    std::optional<TimePoint> answered_at;
    std::optional<TimePoint> failing_since;
    std::string failure;
  };

  /// The reason for which an answer cannot be used; empty: it was used.
  std::string use(const Answer& answer);
  Snapshot::Contact contact(Page first, Page second, TimePoint now) const;
  const PageState& state_of(Page page) const { return pages_[static_cast<std::size_t>(page)]; }

  std::array<PageState, kPages.size()> pages_;
  /// By page; null: there was no answer.
  std::array<nlohmann::json, kPages.size()> bodies_;
  std::optional<FirstSize> first_size_;
};

}  // namespace skua::top
