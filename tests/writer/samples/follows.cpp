#include "records/relations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Follow> kFollowSample({
    .table = "follows",
    .record = {{"subject", "did:plc:other"}, {"via", strong_ref(kPackUri)}},
    .expression = concat({did_of("subject_actor"), reference("via", "t.via_collection", true)}),
    .expected = "did:plc:other|" + with_cid(kPackUri),
});

}  // namespace
}  // namespace skua::test::samples
