#include "records/starter_pack.hpp"

#include <utility>

#include "records/facet_reader.hpp"
#include "records/field_reader.hpp"
#include "records/list.hpp"

namespace skua::records {

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
