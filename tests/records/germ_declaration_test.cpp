#include "records/declarations.hpp"
#include "records/record_rules.hpp"

namespace skua::test::germ_declaration_test {
namespace {

using records::GermDeclaration;

json valid() {
  return {{"$type", "com.germnetwork.declaration"},
          {"version", "1.0.0"},
          {"currentKey", {{"$bytes", "AQIDBA"}}},
          {"messageMe", {{"showButtonTo", "everyone"}}}};
}

INSTANTIATE_TEST_SUITE_P(GermDeclaration, BreaksLexicon,
                         testing::ValuesIn(breaches_of<GermDeclaration>(valid(),
                                                                        {"version", "currentKey"},
                                                                        {"version", "currentKey"})),
                         breach_name);

TEST(GermDeclarationTest, fills_its_fields) {
  Valid<GermDeclaration> declaration(valid());
  EXPECT_EQ(declaration->version, "1.0.0");
  EXPECT_EQ(Bytes(declaration->current_key.begin(), declaration->current_key.end()),
            (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(json::parse(declaration->extra), json({{"messageMe", valid()["messageMe"]}}));
  EXPECT_TRUE(references_of(declaration.decoded().record).empty());
}

TEST(GermDeclarationTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(GermDeclaration::kCollection, valid())->invalid_reason,
            "rkey: must be self");
}

}  // namespace
}  // namespace skua::test::germ_declaration_test
