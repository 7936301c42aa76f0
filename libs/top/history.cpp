#include "top/history.hpp"

#include <algorithm>
#include <utility>

namespace skua::top {
namespace {

constexpr std::chrono::milliseconds kKept{60'500};
constexpr std::chrono::milliseconds kApart{1'900};

}  // namespace

void History::add(Reading reading) {
  const auto size = readings_.size();
  if (size > 0 && reading.samples.restarted_since(readings_.back().samples)) {
    readings_.clear();
  } else if (size > 1 && readings_[size - 1].at - readings_[size - 2].at < kApart) {
    // The latest one was too early to be kept.
    readings_.pop_back();
  }
  readings_.push_back(std::move(reading));
  while (readings_.size() > 2 && readings_.back().at - readings_[0].at > kKept) {
    readings_.pop_front();
  }
}

const Reading* History::before(std::chrono::milliseconds time) const {
  if (readings_.size() < 2) return nullptr;
  const auto last = std::prev(readings_.end());
  const auto found = std::find_if(readings_.begin(), last, [&](const Reading& reading) {
    return last->at - reading.at <= time;
  });
  return found == last ? &*std::prev(last) : &*found;
}

}  // namespace skua::top
