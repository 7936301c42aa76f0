#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "random.hpp"

namespace skua::sim {

/// com.atproto.repo.strongRef: a record at a version.
struct StrongRef {
  std::string uri;
  std::string cid;
};

/// An account as a text mentions it.
struct KnownAccount {
  std::string did;
  std::string handle;
};

/// A post that can be answered: `root` is the first post of its thread, which may be the post
/// itself.
struct KnownPost {
  StrongRef post;
  StrongRef root;
};

/// A bounded number of the newest items.
template <class T>
class Recent {
 public:
  explicit Recent(std::size_t capacity) : capacity_(capacity) {}

  void add(T item) {
    if (items_.size() < capacity_) {
      items_.push_back(std::move(item));
    } else {
      items_[next_] = std::move(item);
    }
    next_ = (next_ + 1) % capacity_;
  }
  bool empty() const { return items_.empty(); }
  const std::vector<T>& items() const { return items_; }
  /// `age` 0 is the newest; below the number of items.
  const T& newest(std::size_t age) const {
    return items_[(next_ + items_.size() - 1 - age) % items_.size()];
  }

 private:
  std::size_t capacity_;
  std::size_t next_ = 0;
  std::vector<T> items_;
};

/// The subjects of records: accounts of the network and their recent posts, and outsiders, a
/// population that exists only in references. The outsiders and their posts are derived from the
/// seed and a number; none is stored. One thread.
class Subjects {
 public:
  Subjects(std::uint64_t seed, std::size_t outsiders, double outside_share, Timestamp start);

  void add_account(KnownAccount account) { accounts_.push_back(std::move(account)); }
  void add_post(KnownPost post) { posts_.add(std::move(post)); }

  /// A post to like, repost, quote or answer. A few posts recur often, most are new.
  KnownPost post(Random& random) const;
  /// The DID of an account.
  std::string account(Random& random) const;
  /// An account with its handle: the first one of an account of the network, which may have changed
  /// since, or one that leads nowhere.
  KnownAccount account_with_handle(Random& random) const;

  /// Records of the network that others refer to. Do not pick from an empty one.
  Recent<StrongRef> reposts{1024};
  Recent<StrongRef> lists{256};
  Recent<StrongRef> starter_packs{64};
  Recent<StrongRef> feeds{64};

 private:
  bool is_outside(Random& random) const;
  std::string outsider(std::uint64_t number) const;
  std::string random_outsider(Random& random) const;
  StrongRef outside_post(std::uint64_t author, std::uint64_t number) const;

  std::uint64_t seed_;
  std::size_t outsiders_;
  double outside_share_;
  Timestamp start_;
  std::vector<KnownAccount> accounts_;
  Recent<KnownPost> posts_{4096};
};

}  // namespace skua::sim
