#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace skua::resolve {

/// The keys of new rows that threads of this process are inserting. If two threads inserted the
/// same row at once, a number would be lost, because `ON CONFLICT` takes one before it sees the
/// conflict, or a whole COPY would fail. `Given` is the type of a key in calls, `Key` its stored
/// type.
template <class Key, class Given = Key, class Hash = boost::hash<Key>>
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
    ~Held() { claims_.release(mine_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// The keys of `wanted` that no other thread holds, in their order.
    const std::vector<Given>& mine() const { return mine_; }
    /// The keys of `wanted` that other threads hold.
    const std::vector<Given>& others() const { return others_; }

   private:
    Claims& claims_;
    std::vector<Given> mine_;
    std::vector<Given> others_;
  };

  /// The claims of one thread on all of `wanted`. The constructor waits until no other thread holds
  /// any of them. The caller must hold none.
  class HeldAll {
   public:
    HeldAll(Claims& claims, std::vector<Given> wanted) : claims_(claims), keys_(std::move(wanted)) {
      std::unique_lock lock(claims_.mutex_);
      claims_.wait_for(keys_, lock);
      for (const Given& key : keys_) claims_.held_.emplace(key);
    }
    ~HeldAll() { claims_.release(keys_); }
    const std::vector<Given>& keys() const { return keys_; }
    HeldAll(const HeldAll&) = delete;
    HeldAll& operator=(const HeldAll&) = delete;

   private:
    Claims& claims_;
    const std::vector<Given> keys_;
  };

  /// Waits until no thread holds any of `keys`. The caller must hold none.
  void wait_for(std::span<const Given> keys) {
    std::unique_lock lock(mutex_);
    wait_for(keys, lock);
  }

 private:
  void wait_for(std::span<const Given> keys, std::unique_lock<std::mutex>& lock) {
    released_.wait(lock, [&] {
      return std::none_of(keys.begin(), keys.end(),
                          [&](const Given& key) { return held_.contains(Key(key)); });
    });
  }

  void release(std::span<const Given> keys) {
    {
      const std::scoped_lock lock(mutex_);
      for (const Given& key : keys) held_.erase(Key(key));
    }
    released_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable released_;
  boost::unordered_flat_set<Key, Hash> held_;
};

}  // namespace skua::resolve
