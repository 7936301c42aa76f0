#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/bytes.hpp"
#include "base/metric.hpp"
#include "base/result.hpp"
#include "documents/did_document.hpp"
#include "transport/spooled_body.hpp"

namespace skua::backfill {

/// Counts the bytes of a CAR from the first received byte until the destruction of this object. It
/// counts them as memory, or above `spool_above` as disk space. One thread at a time uses it.
/// `memory` and `disk` outlive it.
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

  /// Counts further bytes. Returns false if there is no room for them.
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

  /// Keeps a complete CAR, which is read next. From now on it counts as memory, even if it is in a
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

/// Finds an account by its document. If `fresh` is true, the stored document is not used, because a
/// signature does not match it. `done` is called once, on any thread, possibly before the call
/// returns, and does not block.
using FindAccount = std::function<void(const std::string& did, bool fresh,
                                       std::function<void(Result<documents::Account>)> done)>;

/// Returns the reason why an account was not found, for users, with the name of the host that was
/// asked. Any thread may call it.
using AccountFailure = std::function<std::string(const std::string& did, const ErrorCode& error)>;

/// A job and the CAR of its repository. It is moved, never copied.
struct FetchedRepository : LeasedJob {
  /// The account, or nothing if signatures are not checked.
  std::optional<documents::Account> account = std::nullopt;
  /// The time at which the host in the document was asked for the repository. It is the epoch if it
  /// was not asked.
  Timestamp requested_at = {};
  /// Whether the repository was requested with `since`.
  bool is_partial = false;
  ByteView car = {};
  /// The owner of the bytes of `car`.
  std::shared_ptr<const void> bytes = nullptr;
  /// The file that contains the bytes, or null if they are in memory.
  const transport::SpooledBody* mapped = nullptr;
};

}  // namespace skua::backfill
