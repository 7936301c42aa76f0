#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/record_type.hpp"

namespace skua::records {

class FieldReader;

/// Rules for subscriptions to the account's activity. The lexicon has no createdAt.
struct NotificationDeclaration {
  static constexpr std::string_view kCollection = "app.bsky.notification.declaration";
  static constexpr std::int32_t kCollectionId = 17;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view allow_subscriptions;
  std::optional<Timestamp> created_at;
  std::string extra;

  static NotificationDeclaration decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

}  // namespace skua::records
