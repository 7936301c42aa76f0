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

/// One account on a list.
struct ListItem {
  static constexpr std::string_view kCollection = "app.bsky.graph.listitem";
  static constexpr std::int32_t kCollectionId = 10;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  ActorRef subject;
  std::optional<RecordRef> list;
  std::optional<Timestamp> created_at;
  std::string extra;

  static ListItem decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    visit(subject);
    if (list) visit(*list);
  }
};

}  // namespace skua::records
