#include "records/relations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Block> kBlockSample({
    .table = "blocks",
    .record = {{"subject", "did:plc:other"}},
    .expression = did_of("subject_actor"),
    .expected = "did:plc:other",
});

}  // namespace
}  // namespace skua::test::samples
