#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"

namespace skua::records {

class FieldReader;

/// Where the posts of the account may appear. The lexicon has no createdAt.
struct VisibilityDeclaration {
  static constexpr std::string_view kCollection = "app.bsky.actor.contentVisibilityDeclaration";
  static constexpr std::int32_t kCollectionId = 20;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::optional<bool> hide_from_algorithmic_recommendations;
  std::optional<Timestamp> created_at;
  std::string extra;

  static VisibilityDeclaration decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
