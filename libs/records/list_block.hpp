#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// A block of all accounts on a list.
struct ListBlock {
  static constexpr std::string_view kCollection = "app.bsky.graph.listblock";
  static constexpr std::int32_t kCollectionId = 11;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  /// The lexicon calls it `subject`.
  std::optional<RecordRef> list;
  std::optional<Timestamp> created_at;
  std::string extra;

  static ListBlock decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (list) visit(*list);
  }
};

}  // namespace skua::records
