#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// A like of a post, a feed generator or a labeler.
struct Like {
  static constexpr std::string_view kCollection = "app.bsky.feed.like";
  static constexpr std::int32_t kCollectionId = 2;
  static constexpr RecordType kType = RecordType::Like;
  static constexpr bool kSingleton = false;

  std::optional<RecordRef> subject;
  /// The repost through which the liker saw the subject.
  std::optional<RecordRef> via;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Like decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (subject) visit(*subject);
    if (via) visit(*via);
  }
};

struct Repost {
  static constexpr std::string_view kCollection = "app.bsky.feed.repost";
  static constexpr std::int32_t kCollectionId = 3;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  std::optional<RecordRef> subject;
  /// The repost through which the reposter saw the subject.
  std::optional<RecordRef> via;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Repost decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (subject) visit(*subject);
    if (via) visit(*via);
  }
};

}  // namespace skua::records
