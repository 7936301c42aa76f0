#include "records/lists.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::ListBlock> kListBlockSample({
    .table = "list_blocks",
    .record = {{"subject", kListUri}},
    .expression = reference("list", "9", false),
    .expected = kListUri,
});

}  // namespace
}  // namespace skua::test::samples
