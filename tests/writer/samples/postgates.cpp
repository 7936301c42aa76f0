#include "records/gates.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Postgate> kPostgateSample({
    .table = "postgates",
    .record = {{"post", kOwnPostUri},
               {"detachedEmbeddingUris", {kPostUri}},
               {"embeddingRules",
                json::array({{{"$type", "app.bsky.feed.postgate#disableRule"}}})}},
    .expression = concat({reference("post", "1", false), "t.embedding_disabled",
                          "t.detached_uris"}),
    .expected = kOwnPostUri + "|t|{" + kPostUri + "}",
});

}  // namespace
}  // namespace skua::test::samples
