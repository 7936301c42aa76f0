#include "records/declarations.hpp"
#include "records/record_rules.hpp"

namespace skua::test::chat_declaration_test {
namespace {

using records::ChatDeclaration;

json valid() {
  return {{"$type", "chat.bsky.actor.declaration"}, {"allowIncoming", "following"}};
}

INSTANTIATE_TEST_SUITE_P(ChatDeclaration, BreaksLexicon,
                         testing::ValuesIn(breaches_of<ChatDeclaration>(valid(), {"allowIncoming"},
                                                                        {"allowIncoming"})),
                         breach_name);

TEST(ChatDeclarationTest, fills_its_fields) {
  Valid<ChatDeclaration> declaration(valid());
  EXPECT_EQ(declaration->allow_incoming, "following");
  EXPECT_FALSE(declaration->created_at);
  EXPECT_EQ(declaration->extra, "");
  EXPECT_TRUE(references_of(declaration.decoded().record).empty());
}

TEST(ChatDeclarationTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(ChatDeclaration::kCollection, valid(), "other")->invalid_reason,
            "rkey: must be self");
}

TEST(ChatDeclarationTest, keeps_what_its_lexicon_does_not_have) {
  json record = valid();
  record["createdAt"] = "yesterday";
  EXPECT_EQ(Valid<ChatDeclaration>(record)->extra, R"({"createdAt":"yesterday"})");
}

}  // namespace
}  // namespace skua::test::chat_declaration_test
