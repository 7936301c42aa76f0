#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "records/record.hpp"

namespace skua::sim {

template <class R>
inline constexpr auto kPlaceOf = static_cast<std::uint8_t>(R::kCollectionId - 1);

/// The collections of the simulated network: those with their own tables, in the order of
/// `records::Record`, and two of unknown applications. The enumerators are the collections whose
/// records RecordMaker makes in a particular way; the others have a value without a name.
enum class Collection : std::uint8_t {
  post = kPlaceOf<records::Post>,
  like = kPlaceOf<records::Like>,
  repost = kPlaceOf<records::Repost>,
  threadgate = kPlaceOf<records::Threadgate>,
  postgate = kPlaceOf<records::Postgate>,
  feed_generator = kPlaceOf<records::FeedGenerator>,
  follow = kPlaceOf<records::Follow>,
  block = kPlaceOf<records::Block>,
  list = kPlaceOf<records::List>,
  list_item = kPlaceOf<records::ListItem>,
  list_block = kPlaceOf<records::ListBlock>,
  starter_pack = kPlaceOf<records::StarterPack>,
  verification = kPlaceOf<records::Verification>,
  profile = kPlaceOf<records::Profile>,
  status = kPlaceOf<records::Status>,
  chat_declaration = kPlaceOf<records::ChatDeclaration>,
  notification_declaration = kPlaceOf<records::NotificationDeclaration>,
  germ_declaration = kPlaceOf<records::GermDeclaration>,
  labeler = kPlaceOf<records::Labeler>,
  reading_note = records::kTypedCollections,  // invented
  garden_plot,                                // invented
};

inline constexpr std::size_t kCollections = records::kTypedCollections + 2;

struct CollectionRule {
  std::string_view nsid;
  bool is_singleton = false;
};

inline constexpr auto kCollectionRules = [] {
  std::array<CollectionRule, kCollections> rules{};
  std::size_t place = 0;
  records::for_each_collection([&]<class R>() {
    rules[place++] = {R::kCollection, R::kSingleton};
  });
  rules[place++] = {"test.margin.reading.note"};
  rules[place] = {"test.kitchen-garden.plot"};
  return rules;
}();

constexpr std::string_view nsid_of(Collection collection) {
  return kCollectionRules.at(static_cast<std::size_t>(collection)).nsid;
}

/// Whether the lexicon allows only one record per repository, with the key `self`.
constexpr bool is_singleton(Collection collection) {
  return kCollectionRules.at(static_cast<std::size_t>(collection)).is_singleton;
}

}  // namespace skua::sim
