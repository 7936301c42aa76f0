#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "records/record.hpp"
#include "world/random.hpp"

namespace skua::sim {

struct NetworkSettings;

template <class R>
inline constexpr auto kPlaceOf = static_cast<std::uint8_t>(R::kCollectionId - 1);

/// The collections of the simulated network: those with their own tables, in the order of
/// `records::Record`, and two of unknown applications. The enumerators are the collections whose
/// records RecordMaker makes in a particular way; the others have a value without a name.
enum class Collection : std::uint8_t {
  post = kPlaceOf<records::Post>,
  like = kPlaceOf<records::Like>,
  repost = kPlaceOf<records::Repost>,
  threadgate = kPlaceOf<records::Threadgate>,
  postgate = kPlaceOf<records::Postgate>,
  feed_generator = kPlaceOf<records::FeedGenerator>,
  follow = kPlaceOf<records::Follow>,
  block = kPlaceOf<records::Block>,
  list = kPlaceOf<records::List>,
  list_item = kPlaceOf<records::ListItem>,
  list_block = kPlaceOf<records::ListBlock>,
  starter_pack = kPlaceOf<records::StarterPack>,
  verification = kPlaceOf<records::Verification>,
  profile = kPlaceOf<records::Profile>,
  status = kPlaceOf<records::Status>,
  chat_declaration = kPlaceOf<records::ChatDeclaration>,
  notification_declaration = kPlaceOf<records::NotificationDeclaration>,
  germ_declaration = kPlaceOf<records::GermDeclaration>,
  labeler = kPlaceOf<records::Labeler>,
  reading_note = records::kTypedCollections,  // invented
  garden_plot,                                // invented
};

inline constexpr std::size_t kCollections = records::kTypedCollections + 2;

struct CollectionRule {
  std::string_view nsid;
  bool is_singleton = false;
};

inline constexpr auto kCollectionRules = [] {
  std::array<CollectionRule, kCollections> rules{};
  std::size_t place = 0;
  records::for_each_collection([&]<class R>() {
    rules[place++] = {R::kCollection, R::kSingleton};
  });
  rules[place++] = {"test.margin.reading.note"};
  rules[place] = {"test.kitchen-garden.plot"};
  return rules;
}();

constexpr std::string_view nsid_of(Collection collection) {
  return kCollectionRules.at(static_cast<std::size_t>(collection)).nsid;
}

/// Returns whether the lexicon allows only one record per repository, with the key `self`.
constexpr bool is_singleton(Collection collection) {
  return kCollectionRules.at(static_cast<std::size_t>(collection)).is_singleton;
}

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

/// A post that can be answered. `root` is the first post of its thread, which may be the post
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
  /// Returns the item of an age. Age 0 is the newest; `age` must be below the number of items.
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
/// seed and a number, so none is stored. One thread.
class Subjects {
 public:
  Subjects(const NetworkSettings& settings, Timestamp start);

  void add_account(KnownAccount account) { accounts_.push_back(std::move(account)); }
  void add_post(KnownPost post) { posts_.add(std::move(post)); }

  /// Returns a post to like, repost, quote or answer. A few posts recur often, but most are new.
  KnownPost post(Random& random) const;
  /// Returns the DID of an account.
  std::string account(Random& random) const;
  /// Returns an account with its handle. For an account of the network this is the first handle,
  /// which may have changed since; for any other account the handle does not resolve.
  KnownAccount account_with_handle(Random& random) const;

  /// The records of the network to which other records refer. No item may be picked from an empty
  /// list.
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
  bool recent_posts_;
  Timestamp start_;
  std::vector<KnownAccount> accounts_;
  Recent<KnownPost> posts_{4096};
};

}  // namespace skua::sim
