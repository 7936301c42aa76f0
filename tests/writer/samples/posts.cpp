#include "records/post.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

json all_facets() {
  json list = facets();
  const auto add_feature = [&](const json& feature) {
    list.push_back(
        {{"index", {{"byteStart", 0}, {"byteEnd", 4}}}, {"features", json::array({feature})}});
  };
  add_feature({{"$type", "app.bsky.richtext.facet#mention"}, {"did", "did:plc:mentioned"}});
  add_feature({{"$type", "app.bsky.richtext.facet#link"}, {"uri", "https://A.test/x"}});
  return list;
}

json quote_with_images() {
  return {{"$type", "app.bsky.embed.recordWithMedia"},
          {"record", {{"$type", "app.bsky.embed.record"}, {"record", strong_ref(kFeedUri)}}},
          {"media",
           {{"$type", "app.bsky.embed.images"},
            {"images", json::array({{{"image", blob("image")}, {"alt", ""}}})}}}};
}

const SampleOf<records::Post> kPostSample({
    .table = "posts",
    .record = {{"text", "#skua \"quoted\" \\ {x}"},
               {"langs", {"en", "pt-BR"}},
               {"tags", {"a,b", "c\"d"}},
               {"labels", labels("nudity")},
               {"facets", all_facets()},
               {"reply", {{"parent", strong_ref(kPostUri)}, {"root", strong_ref(kRootUri)}}},
               {"embed", quote_with_images()}},
    .expression = concat({"t.text", "t.langs", "t.tags", "t.labels",
                          "t.facets -> 0 -> 'features' -> 0 ->> 'tag'", "t.embed ->> '$type'",
                          reference("parent", "1", true), reference("root", "1", true),
                          reference("quote", "t.quote_collection", true), "t.is_deleted",
                          "(SELECT did FROM bsky.actors WHERE ARRAY[id] = t.mentions)",
                          "t.all_tags", "t.links", "t.link_hosts", "t.images_without_alt"}),
    .expected = "#skua \"quoted\" \\ "
                "{x}|en pt-BR|{\"a,b\",\"c\\\"d\"}|{nudity}|skua|app.bsky.embed.recordWithMedia|" +
                with_cid(kPostUri) + "|" + with_cid(kRootUri) + "|" + with_cid(kFeedUri) +
                "|f|did:plc:mentioned|{skua,\"a,b\",\"c\\\"d\"}|{https://A.test/x}|{a.test}|1",
    // A post has images or a video.
    .empty = "has_video",
});

}  // namespace
}  // namespace skua::test::samples
