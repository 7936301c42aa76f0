#include "records/declarations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::GermDeclaration> kGermDeclarationSample({
    .table = "germ_declarations",
    .record = {{"version", "1.0"}, {"currentKey", {{"$bytes", "AAEC"}}}},
    .expression = concat({"t.version", "t.current_key"}),
    .expected = "1.0|\\x000102",
    .has_created_at = false,
});

}  // namespace
}  // namespace skua::test::samples
