#include "records/facet_reader.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

std::vector<Facet> read_facets(FieldReader& fields, std::string_view key) {
  std::vector<Facet> facets;
  fields.each_object(key, [&](FieldReader& facet) {
    Facet read;
    if (auto index = facet.object("index")) {
      read.byte_start = index->integer("byteStart");
      read.byte_end = index->integer("byteEnd");
    }
    facet.require("features");
    facet.each_union_object("features", [&](FieldReader& feature) {
      if (feature.type() == "app.bsky.richtext.facet#mention") {
        read.kind = Facet::Kind::Mention;
        read.value = feature.text("did", FieldReader::Format::Did);
      } else if (feature.type() == "app.bsky.richtext.facet#link") {
        read.kind = Facet::Kind::Link;
        read.value = feature.text("uri", FieldReader::Format::Uri);
      } else if (feature.type() == "app.bsky.richtext.facet#tag") {
        read.kind = Facet::Kind::Tag;
        read.value = feature.text("tag");
      } else {
        return;
      }
      facets.push_back(read);
    });
  });
  return facets;
}

}  // namespace skua::records
