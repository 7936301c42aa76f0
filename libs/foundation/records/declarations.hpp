#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "records/reference.hpp"

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

/// The account's key for Germ messages. The lexicon has no createdAt. All other fields of the
/// record are in `extra`.
struct GermDeclaration {
  static constexpr std::string_view kCollection = "com.germnetwork.declaration";
  static constexpr std::int32_t kCollectionId = 18;
  static constexpr RecordType kType = RecordType::Actor;
  static constexpr bool kSingleton = true;

  std::string_view version;
  ByteView current_key;
  std::optional<Timestamp> created_at;
  std::string extra;

  static GermDeclaration decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

/// The rules for the places in which the account's posts may appear. The lexicon has no createdAt.
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
