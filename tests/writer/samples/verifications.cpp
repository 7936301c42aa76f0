#include "records/relations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Verification> kVerificationSample({
    .table = "verifications",
    .record = {{"subject", "did:plc:other"}, {"handle", "other.test"}, {"displayName", "Other"}},
    .expression = concat({did_of("subject_actor"), "t.handle", "t.display_name"}),
    .expected = "did:plc:other|other.test|Other",
});

}  // namespace
}  // namespace skua::test::samples
