#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "records/post_content.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// A list of accounts. Its items are separate records.
struct List {
  static constexpr std::string_view kCollection = "app.bsky.graph.list";
  static constexpr std::int32_t kCollectionId = 9;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = false;

  std::string_view purpose;
  std::string_view name;
  std::optional<std::string_view> description;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string description_facets_json;
  std::optional<Blob> avatar;
  std::optional<TextList> labels;
  std::optional<Timestamp> created_at;
  std::string extra;

  static List decode(FieldReader& fields);

  template <class F>
  void visit_references(F&&) {}
};

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

/// A block of all accounts on a list.
struct ListBlock {
  static constexpr std::string_view kCollection = "app.bsky.graph.listblock";
  static constexpr std::int32_t kCollectionId = 11;
  static constexpr RecordType kType = RecordType::Social;
  static constexpr bool kSingleton = false;

  /// The lexicon calls this field `subject`.
  std::optional<RecordRef> list;
  std::optional<Timestamp> created_at;
  std::string extra;

  static ListBlock decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (list) visit(*list);
  }
};

/// A starter pack: a list to follow and some feeds.
struct StarterPack {
  static constexpr std::string_view kCollection = "app.bsky.graph.starterpack";
  static constexpr std::int32_t kCollectionId = 12;
  static constexpr RecordType kType = RecordType::Metadata;
  static constexpr bool kSingleton = false;

  std::string_view name;
  std::optional<std::string_view> description;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string description_facets_json;
  std::optional<RecordRef> list;
  /// The URIs of feed generators.
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
