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

struct Profile {
  static constexpr std::string_view kCollection = "app.bsky.actor.profile";
  static constexpr std::int32_t kCollectionId = 14;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::optional<std::string_view> display_name;
  std::optional<std::string_view> description;
  std::optional<std::string_view> pronouns;
  std::optional<std::string_view> website;
  std::optional<Blob> avatar;
  std::optional<Blob> banner;
  std::optional<TextList> labels;
  std::optional<RecordRef> pinned;
  std::optional<RecordRef> joined_via;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Profile decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (pinned) visit(*pinned);
    if (joined_via) visit(*joined_via);
  }
};

/// The current activity of an account, such as being live.
struct Status {
  static constexpr std::string_view kCollection = "app.bsky.actor.status";
  static constexpr std::int32_t kCollectionId = 15;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view status;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string embed_json;
  std::optional<std::int64_t> duration_minutes;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Status decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
