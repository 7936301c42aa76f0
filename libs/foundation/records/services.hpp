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

/// The declaration of a feed generator.
struct FeedGenerator {
  static constexpr std::string_view kCollection = "app.bsky.feed.generator";
  static constexpr std::int32_t kCollectionId = 6;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = false;

  /// The service that answers requests for the feed.
  std::string_view service_did;
  std::string_view display_name;
  std::optional<std::string_view> description;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string description_facets_json;
  std::optional<Blob> avatar;
  std::optional<bool> accepts_interactions;
  std::optional<std::string_view> content_mode;
  std::optional<TextList> labels;
  std::optional<Timestamp> created_at;
  std::string extra;

  static FeedGenerator decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

/// The declaration of a labeler service.
struct Labeler {
  static constexpr std::string_view kCollection = "app.bsky.labeler.service";
  static constexpr std::int32_t kCollectionId = 19;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = true;

  /// The JSON text of the record's field.
  std::string policies_json;
  std::optional<TextList> labels;
  std::optional<TextList> reason_types;
  std::optional<TextList> subject_types;
  std::optional<TextList> subject_collections;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Labeler decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
