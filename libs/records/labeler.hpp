#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"
#include "records/text_list.hpp"

namespace skua::records {

class FieldReader;

/// The declaration of a labeler service.
struct Labeler {
  static constexpr std::string_view kCollection = "app.bsky.labeler.service";
  static constexpr std::int32_t kCollectionId = 19;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = true;

  /// As in the record.
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
