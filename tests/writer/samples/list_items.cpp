#include "records/lists.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::ListItem> kListItemSample({
    .table = "list_items",
    .record = {{"subject", "did:plc:member"}, {"list", kListUri}},
    .expression = concat({did_of("subject_actor"), reference("list", "9", false)}),
    .expected = "did:plc:member|" + kListUri,
});

}  // namespace
}  // namespace skua::test::samples
