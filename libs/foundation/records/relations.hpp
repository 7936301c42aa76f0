#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// A follow of an account.
struct Follow {
  static constexpr std::string_view kCollection = "app.bsky.graph.follow";
  static constexpr std::int32_t kCollectionId = 7;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  ActorRef subject;
  /// The record, often a starter pack, that led to the follow.
  std::optional<RecordRef> via;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Follow decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    visit(subject);
    if (via) visit(*via);
  }
};

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

/// The statement of the author that an account, with its names at that time, is authentic.
struct Verification {
  static constexpr std::string_view kCollection = "app.bsky.graph.verification";
  static constexpr std::int32_t kCollectionId = 13;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  ActorRef subject;
  std::string_view handle;
  std::string_view display_name;
  std::optional<Timestamp> created_at;
  std::string extra;

  static Verification decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    visit(subject);
  }
};

}  // namespace skua::records
