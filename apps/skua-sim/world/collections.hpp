#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::sim {

/// The collections of the simulated network: those with their own tables, and two of unknown
/// applications.
enum class Collection : std::uint8_t {
  like,
  post,
  repost,
  follow,
  block,
  list_item,
  threadgate,
  postgate,
  list,
  list_block,
  starter_pack,
  feed_generator,
  verification,
  profile,
  status,
  chat_declaration,
  notification_declaration,
  germ_declaration,
  labeler,
  reading_note,  // invented
  garden_plot,   // invented
};

inline constexpr std::size_t kCollections = 21;

constexpr std::string_view nsid_of(Collection collection) {
  constexpr std::array<std::string_view, kCollections> kNsids = {
      "app.bsky.feed.like",
      "app.bsky.feed.post",
      "app.bsky.feed.repost",
      "app.bsky.graph.follow",
      "app.bsky.graph.block",
      "app.bsky.graph.listitem",
      "app.bsky.feed.threadgate",
      "app.bsky.feed.postgate",
      "app.bsky.graph.list",
      "app.bsky.graph.listblock",
      "app.bsky.graph.starterpack",
      "app.bsky.feed.generator",
      "app.bsky.graph.verification",
      "app.bsky.actor.profile",
      "app.bsky.actor.status",
      "chat.bsky.actor.declaration",
      "app.bsky.notification.declaration",
      "com.germnetwork.declaration",
      "app.bsky.labeler.service",
      "test.margin.reading.note",
      "test.kitchen-garden.plot",
  };
  return kNsids[static_cast<std::size_t>(collection)];
}

/// Whether the lexicon allows only one record per repository, with the key `self`.
constexpr bool is_singleton(Collection collection) {
  return collection >= Collection::profile && collection <= Collection::labeler;
}

}  // namespace skua::sim
