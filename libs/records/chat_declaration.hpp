#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"

namespace skua::records {

class FieldReader;

/// Rules for chat messages to the account. The lexicon has no createdAt.
struct ChatDeclaration {
  static constexpr std::string_view kCollection = "chat.bsky.actor.declaration";
  static constexpr std::int32_t kCollectionId = 16;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view allow_incoming;
  std::optional<Timestamp> created_at;
  std::string extra;

  static ChatDeclaration decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
