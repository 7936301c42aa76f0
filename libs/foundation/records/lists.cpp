#include "records/lists.hpp"

#include <utility>

#include "records/field_reader.hpp"
#include "records/post_parts.hpp"

namespace skua::records {

List List::decode(FieldReader& fields) {
  List list;
  list.name = fields.text("name");
  list.purpose = fields.text("purpose");
  list.created_at = fields.datetime("createdAt");
  list.description = fields.optional_text("description");
  read_facets(fields, "descriptionFacets");
  list.description_facets_json = fields.json("descriptionFacets");
  list.avatar = fields.optional_blob("avatar");
  list.labels = fields.optional_self_labels("labels");
  return list;
}

ListItem ListItem::decode(FieldReader& fields) {
  ListItem item;
  item.subject = fields.did("subject");
  item.list = fields.record_uri("list", List::kCollection);
  item.created_at = fields.datetime("createdAt");
  return item;
}

ListBlock ListBlock::decode(FieldReader& fields) {
  ListBlock block;
  block.list = fields.record_uri("subject", List::kCollection);
  block.created_at = fields.datetime("createdAt");
  return block;
}

StarterPack StarterPack::decode(FieldReader& fields) {
  StarterPack pack;
  pack.name = fields.text("name");
  pack.list = fields.record_uri("list", List::kCollection);
  pack.created_at = fields.datetime("createdAt");
  pack.description = fields.optional_text("description");
  read_facets(fields, "descriptionFacets");
  pack.description_facets_json = fields.json("descriptionFacets");

  TextList feeds;
  bool whole = true;
  const bool has_feeds = fields.each_object("feeds", [&](FieldReader& feed) {
    feeds.push_back(feed.text("uri", FieldReader::Format::AtUri));
    whole = whole && feed.complete();
  });
  if (has_feeds) pack.feeds = std::move(feeds);
  if (!whole) fields.keep("feeds");
  return pack;
}

}  // namespace skua::records
