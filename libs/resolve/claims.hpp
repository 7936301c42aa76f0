#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace skua::resolve {

/// Which new accounts are being inserted by some thread of this process at this moment. Two threads
/// that insert the same DID at once would burn an id: `ON CONFLICT` takes a number before it sees
/// the conflict, and int4 ends.
class Claims {
 public:
  /// The claims of one thread; released when it ends.
  class Held {
   public:
    Held(Claims& claims, std::span<const std::string_view> wanted);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Those of `wanted` that nobody else has.
    const std::vector<std::string_view>& mine() const { return mine_; }
    /// Those that another thread is at.
    const std::vector<std::string_view>& others() const { return others_; }

   private:
    Claims& claims_;
    std::vector<std::string_view> mine_;
    std::vector<std::string_view> others_;
  };

  /// Waits until nobody holds any of `dids`. The caller holds none itself.
  void wait_for(std::span<const std::string_view> dids);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  boost::unordered_flat_set<std::string> held_;
};

}  // namespace skua::resolve
