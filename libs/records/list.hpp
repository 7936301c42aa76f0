#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/blob.hpp"
#include "records/record_type.hpp"
#include "records/text_list.hpp"

namespace skua::records {

class FieldReader;

/// A list of accounts; its items are records of their own.
struct List {
  static constexpr std::string_view kCollection = "app.bsky.graph.list";
  static constexpr std::int32_t kCollectionId = 9;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = false;

  std::string_view purpose;
  std::string_view name;
  std::optional<std::string_view> description;
  /// As in the record; empty when absent.
  std::string description_facets_json;
  std::optional<Blob> avatar;
  std::optional<TextList> labels;
  std::optional<Timestamp> created_at;
  std::string extra;

  static List decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
