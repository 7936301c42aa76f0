#include "records/lists.hpp"

#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::List> kListSample({
    .table = "lists",
    .record = {{"purpose", "app.bsky.graph.defs#modlist"},
               {"name", "Names"},
               {"description", "Words"},
               {"descriptionFacets", facets()},
               {"avatar", blob("avatar")},
               {"labels", labels("x")}},
    .expression = concat({"t.purpose", "t.name", "t.description",
                          "jsonb_array_length(t.description_facets)", "t.avatar_cid", "t.labels"}),
    .expected = "app.bsky.graph.defs#modlist|Names|Words|1|" +
                cid_of("avatar", atproto::Cid::kRaw) + "|{x}",
});

}  // namespace
}  // namespace skua::test::samples
