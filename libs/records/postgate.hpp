#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"
#include "records/reference.hpp"
#include "records/text_list.hpp"

namespace skua::records {

class FieldReader;

/// Rules for quotes of the post with the same account and record key.
struct Postgate {
  static constexpr std::string_view kCollection = "app.bsky.feed.postgate";
  static constexpr std::int32_t kCollectionId = 5;
  static constexpr RecordType kType = RecordType::Post;
  static constexpr bool kSingleton = false;

  std::optional<RecordRef> post;
  bool embedding_disabled = false;
  /// Quoting posts that the author detached.
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
