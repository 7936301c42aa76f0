#include "records/services.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Labeler> kLabelerSample({
    .table = "labelers",
    .record = {{"policies", {{"labelValues", {"spam"}}}},
               {"labels", labels("x")},
               {"reasonTypes", {"com.atproto.moderation.defs#reasonSpam"}},
               {"subjectTypes", {"record"}},
               {"subjectCollections", {"app.bsky.feed.post"}}},
    .expression = concat({"t.policies -> 'labelValues' ->> 0", "t.labels", "t.reason_types",
                          "t.subject_types", "t.subject_collections"}),
    .expected = "spam|{x}|{com.atproto.moderation.defs#reasonSpam}|{record}|{app.bsky.feed.post}",
});

}  // namespace
}  // namespace skua::test::samples
