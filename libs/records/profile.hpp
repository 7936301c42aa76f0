#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/blob.hpp"
#include "records/record_type.hpp"
#include "records/reference.hpp"
#include "records/text_list.hpp"

namespace skua::records {

class FieldReader;

/// An account's profile.
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

}  // namespace skua::records
