#include "records/reactions.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Repost> kRepostSample({
    .table = "reposts",
    .record = {{"subject", strong_ref(kPostUri)}, {"via", strong_ref(kRepostUri)}},
    .expression = concat({reference("subject", "t.subject_collection", true),
                          reference("via", "3", true)}),
    .expected = with_cid(kPostUri) + "|" + with_cid(kRepostUri),
});

}  // namespace
}  // namespace skua::test::samples
