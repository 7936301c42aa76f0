#include "records/declarations.hpp"
#include "records/record_rules.hpp"

namespace skua::test::visibility_declaration_test {
namespace {

using records::VisibilityDeclaration;

constexpr const char* kHide = "hideFromAlgorithmicRecommendations";

json valid() {
  return {{"$type", "app.bsky.actor.contentVisibilityDeclaration"}, {kHide, true}};
}

INSTANTIATE_TEST_SUITE_P(VisibilityDeclaration, BreaksLexicon,
                         testing::ValuesIn(breaches_of<VisibilityDeclaration>(valid(), {kHide},
                                                                              {kHide})),
                         breach_name);

TEST(VisibilityDeclarationTest, fills_its_fields) {
  Valid<VisibilityDeclaration> declaration(valid());
  EXPECT_EQ(declaration->hide_from_algorithmic_recommendations, true);
  EXPECT_FALSE(declaration->created_at);
  EXPECT_EQ(declaration->extra, "");
  EXPECT_TRUE(references_of(declaration.decoded().record).empty());
}

TEST(VisibilityDeclarationTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(VisibilityDeclaration::kCollection, valid(), "other")->invalid_reason,
            "rkey: must be self");
}

}  // namespace
}  // namespace skua::test::visibility_declaration_test
