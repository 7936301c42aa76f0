#include "records/post.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Post> kPostSample({
    .table = "posts",
    .record = {{"text", "#skua \"quoted\" \\ {x}"},
               {"langs", {"en", "pt-BR"}},
               {"tags", {"a,b", "c\"d"}},
               {"labels", labels("nudity")},
               {"facets", facets()},
               {"reply", {{"parent", strong_ref(kPostUri)}, {"root", strong_ref(kRootUri)}}},
               {"embed", {{"$type", "app.bsky.embed.record"}, {"record", strong_ref(kFeedUri)}}}},
    .expression = concat({"t.text", "t.langs", "t.tags", "t.labels",
                          "t.facets -> 0 -> 'features' -> 0 ->> 'tag'", "t.embed ->> '$type'",
                          reference("parent", "1", true), reference("root", "1", true),
                          reference("quote", "t.quote_collection", true), "t.is_deleted"}),
    .expected = "#skua \"quoted\" \\ "
                "{x}|{en,pt-BR}|{\"a,b\",\"c\\\"d\"}|{nudity}|skua|app.bsky.embed.record|" +
                with_cid(kPostUri) + "|" + with_cid(kRootUri) + "|" + with_cid(kFeedUri) + "|f",
});

}  // namespace
}  // namespace skua::test::samples
