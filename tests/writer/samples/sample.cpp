#include "writer/samples/sample.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace skua::test {
namespace {

std::vector<TableSample>& registered_samples() {
  static std::vector<TableSample> samples;
  return samples;
}

}  // namespace

const std::vector<TableSample>& table_samples() {
  return registered_samples();
}

namespace samples {

void add(TableSample sample) {
  sample.record["$type"] = sample.collection;
  if (sample.has_created_at) sample.record["createdAt"] = "2026-01-02T03:04:05.678Z";
  sample.record["zzNew"] = "not known";
  auto& all = registered_samples();
  const auto place = std::find_if(all.begin(), all.end(), [&](const TableSample& other) {
    return other.collection_id > sample.collection_id;
  });
  all.insert(place, std::move(sample));
}

std::string cid_of(const std::string& text, std::uint8_t codec) {
  return atproto::Cid::of(as_bytes(text), codec).to_string();
}

json strong_ref(const std::string& uri) {
  return {{"uri", uri}, {"cid", cid_of(uri)}};
}

json blob(const std::string& content) {
  return {{"$type", "blob"},
          {"ref", {{"$link", cid_of(content, atproto::Cid::kRaw)}}},
          {"mimeType", "image/png"},
          {"size", 10}};
}

json labels(const std::string& value) {
  return {{"$type", "com.atproto.label.defs#selfLabels"},
          {"values", json::array({{{"val", value}}})}};
}

json facets() {
  return json::array(
      {{{"index", {{"byteStart", 0}, {"byteEnd", 4}}},
        {"features", json::array({{{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "skua"}}})}}});
}

std::string reference(const std::string& prefix, const std::string& collection, bool with_cid) {
  std::string text = "bsky.uri(t." + prefix + "_actor, " + collection + ", t." + prefix + "_rkey)";
  if (with_cid) text = "concat_ws(' ', " + text + ", bsky.cid_text(t." + prefix + "_cid))";
  return text;
}

std::string with_cid(const std::string& uri) {
  return uri + " " + cid_of(uri);
}

std::string did_of(const std::string& column) {
  return "(SELECT did FROM bsky.actors WHERE id = t." + column + ")";
}

std::string concat(const std::vector<std::string>& expressions) {
  std::string text = "concat_ws('|'";
  for (const auto& expression : expressions) text += ", " + expression;
  return text + ")";
}

}  // namespace samples
}  // namespace skua::test
