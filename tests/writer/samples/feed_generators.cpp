#include "records/services.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::FeedGenerator> kFeedGeneratorSample({
    .table = "feed_generators",
    .record = {{"did", "did:web:feed.test"},
               {"displayName", "Hot"},
               {"description", "#all"},
               {"descriptionFacets", facets()},
               {"avatar", blob("avatar")},
               {"acceptsInteractions", true},
               {"contentMode", "app.bsky.feed.defs#contentModeVideo"},
               {"labels", labels("x")}},
    .expression = concat({"t.service_did", "t.display_name", "t.description",
                          "jsonb_array_length(t.description_facets)", "t.avatar_cid",
                          "t.accepts_interactions", "t.content_mode", "t.labels"}),
    .expected = "did:web:feed.test|Hot|#all|1|" + cid_of("avatar", atproto::Cid::kRaw) +
                "|t|app.bsky.feed.defs#contentModeVideo|{x}",
    .rkey = "whats-hot",
});

}  // namespace
}  // namespace skua::test::samples
