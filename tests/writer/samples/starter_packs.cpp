#include "records/lists.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::StarterPack> kStarterPackSample({
    .table = "starter_packs",
    .record = {{"name", "Pack"},
               {"description", "Words"},
               {"descriptionFacets", facets()},
               {"list", kListUri},
               {"feeds", json::array({{{"uri", kFeedUri}}})}},
    .expression = concat({"t.name", "t.description", "jsonb_array_length(t.description_facets)",
                          reference("list", "9", false), "t.feeds"}),
    .expected = "Pack|Words|1|" + kListUri + "|{" + kFeedUri + "}",
});

}  // namespace
}  // namespace skua::test::samples
