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

/// A starter pack: a list to follow and some feeds.
struct StarterPack {
  static constexpr std::string_view kCollection = "app.bsky.graph.starterpack";
  static constexpr std::int32_t kCollectionId = 12;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = false;

  std::string_view name;
  std::optional<std::string_view> description;
  /// As in the record; empty when absent.
  std::string description_facets_json;
  std::optional<RecordRef> list;
  /// URIs of feed generators.
  std::optional<TextList> feeds;
  std::optional<Timestamp> created_at;
  std::string extra;

  static StarterPack decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (list) visit(*list);
  }
};

}  // namespace skua::records
