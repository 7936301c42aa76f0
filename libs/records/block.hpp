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

/// A block of an account.
struct Block {
  static constexpr std::string_view kCollection = "app.bsky.graph.block";
  static constexpr std::int32_t kCollectionId = 8;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  ActorRef subject;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Block decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    visit(subject);
  }
};

}  // namespace skua::records
