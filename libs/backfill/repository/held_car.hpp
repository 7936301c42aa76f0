#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backfill/hosts/spool_budget.hpp"
#include "base/metric.hpp"

namespace skua::backfill {

/// Counts the bytes of a CAR from the first received one until this object is destroyed: as memory,
/// or beyond `spool_above` as disk space. One thread at a time. `memory` and `disk` outlive it.
class HeldCar {
 public:
  HeldCar(Count& memory, SpoolBudget& disk, std::string site, std::size_t spool_above)
      : memory_(memory), disk_(disk), site_(std::move(site)), spool_above_(spool_above) {}
  ~HeldCar() {
    memory_ -= in_memory_;
    disk_.give_back(site_, on_disk_);
  }
  HeldCar(const HeldCar&) = delete;
  HeldCar& operator=(const HeldCar&) = delete;

  /// Counts further bytes. False: there is no room for them.
  bool add(std::size_t bytes) {
    const std::size_t all = in_memory_ + on_disk_ + bytes;
    if (all <= spool_above_) {
      hold_in_memory(all);
      return true;
    }
    if (!disk_.take(site_, all - on_disk_)) return false;
    on_disk_ = all;
    hold_in_memory(0);
    return true;
  }

  /// The CAR is complete and is read next. From now on it counts as memory, also if it is in a
  /// file.
  void keep(std::shared_ptr<const void> bytes, std::size_t size) {
    bytes_ = std::move(bytes);
    hold_in_memory(size);
  }

 private:
  void hold_in_memory(std::size_t size) {
    memory_ += size - in_memory_;
    in_memory_ = size;
  }

  Count& memory_;
  SpoolBudget& disk_;
  const std::string site_;
  const std::size_t spool_above_;
  std::size_t in_memory_ = 0;
  std::size_t on_disk_ = 0;
  std::shared_ptr<const void> bytes_;
};

}  // namespace skua::backfill
