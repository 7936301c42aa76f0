#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "records/post_content.hpp"
#include "records/post_parts.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// A post. Views point into the record's block.
struct Post {
  static constexpr std::string_view kCollection = "app.bsky.feed.post";
  static constexpr std::int32_t kCollectionId = 1;
  static constexpr RecordType kType = RecordType::Post;
  static constexpr bool kSingleton = false;

  std::string_view text;
  std::optional<TextList> langs;
  std::optional<TextList> tags;
  /// The values of the self-labels.
  std::optional<TextList> labels;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string facets_json;
  std::vector<Facet> facets;
  /// The JSON text of the record's field, or an empty text if the field is absent.
  std::string embed_json;
  Embed embed;
  std::optional<RecordRef> parent;
  std::optional<RecordRef> root;
  /// The record that embed.record or recordWithMedia quotes, such as a post, a list or a feed
  /// generator.
  std::optional<RecordRef> quote;
  std::optional<Timestamp> created_at;
  std::string extra;

  // `fill_content` computes the members below. They are columns for conditions in queries, not
  // fields of the record. No list has a value twice. The lists are short even if the record is
  // long.

  /// The accounts that the text mentions.
  std::vector<ActorRef> mentions;
  /// The tags of the text and of the field `tags`, in their normal form.
  std::vector<std::string> all_tags;
  /// The links of the text and of the link card.
  TextList links;
  /// The hosts of `links`.
  std::vector<std::string> link_hosts;
  /// Absent if the post has no image.
  std::optional<std::int32_t> images_without_alt;
  /// Absent if the post has no video, otherwise true.
  std::optional<bool> has_video;

  static Post decode(FieldReader& fields);

  template <class F>
  void visit_references(F&& visit) {
    if (parent) visit(*parent);
    if (root) visit(*root);
    if (quote) visit(*quote);
    for (ActorRef& mention : mentions) visit(mention);
  }
};

}  // namespace skua::records
