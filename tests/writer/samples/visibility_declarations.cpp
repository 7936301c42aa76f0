#include "records/declarations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::VisibilityDeclaration> kVisibilityDeclarationSample({
    .table = "visibility_declarations",
    .record = {{"hideFromAlgorithmicRecommendations", true}},
    .expression = "t.hide_from_algorithmic_recommendations",
    .expected = "t",
    .has_created_at = false,
});

}  // namespace
}  // namespace skua::test::samples
