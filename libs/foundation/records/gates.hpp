#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/post_content.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// Rules for replies to the post with the same account and record key.
struct Threadgate {
  static constexpr std::string_view kCollection = "app.bsky.feed.threadgate";
  static constexpr std::int32_t kCollectionId = 4;
  static constexpr RecordType kType = RecordType::Post;
  static constexpr bool kSingleton = false;

  std::optional<RecordRef> post;
  /// Whether `allow` is present. Then only accounts that match a rule may reply; without rules no
  /// account may reply.
  bool is_restricted = false;
  bool allow_mentioned = false;
  bool allow_following = false;
  bool allow_followers = false;
  /// The URIs of the lists whose members may reply. Absent if no rule names a list.
  std::optional<TextList> allow_lists;
  std::optional<TextList> hidden_replies;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Threadgate decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (post) visit(*post);
  }
};

/// Rules for quotes of the post with the same account and record key.
struct Postgate {
  static constexpr std::string_view kCollection = "app.bsky.feed.postgate";
  static constexpr std::int32_t kCollectionId = 5;
  static constexpr RecordType kType = RecordType::Post;
  static constexpr bool kSingleton = false;

  std::optional<RecordRef> post;
  bool embedding_disabled = false;
  /// The quoting posts that the author detached.
  std::optional<TextList> detached_uris;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Postgate decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (post) visit(*post);
  }
};

}  // namespace skua::records
