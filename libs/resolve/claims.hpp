#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace skua::resolve {

/// Which new rows are being inserted by some thread of this process at this moment. Two threads
/// that insert the same one at once would cost: a number, as `ON CONFLICT` takes one before it sees
/// the conflict, or a whole COPY. `Given` is how a key is named in calls, `Key` how it is kept.
template <class Key, class Given = Key>
class Claims {
 public:
  /// The claims of one thread; released when it ends.
  class Held {
   public:
    Held(Claims& claims, std::span<const Given> wanted) : claims_(claims) {
      const std::scoped_lock lock(claims_.mutex_);
      for (const Given& key : wanted) {
        (claims_.held_.emplace(key).second ? mine_ : others_).push_back(key);
      }
    }
    ~Held() {
      {
        const std::scoped_lock lock(claims_.mutex_);
        for (const Given& key : mine_) claims_.held_.erase(Key(key));
      }
      claims_.released_.notify_all();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Those of `wanted` that nobody else has, in their order.
    const std::vector<Given>& mine() const { return mine_; }
    /// Those that another thread is at.
    const std::vector<Given>& others() const { return others_; }

   private:
    Claims& claims_;
    std::vector<Given> mine_;
    std::vector<Given> others_;
  };

  /// Waits until nobody holds any of `keys`. The caller holds none itself.
  void wait_for(std::span<const Given> keys) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] {
      return std::none_of(keys.begin(), keys.end(),
                          [&](const Given& key) { return held_.contains(Key(key)); });
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  boost::unordered_flat_set<Key> held_;
};

}  // namespace skua::resolve
