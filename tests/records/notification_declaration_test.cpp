#include "records/declarations.hpp"
#include "records/record_rules.hpp"

namespace skua::test::notification_declaration_test {
namespace {

using records::NotificationDeclaration;

json valid() {
  return {{"$type", "app.bsky.notification.declaration"}, {"allowSubscriptions", "followers"}};
}

INSTANTIATE_TEST_SUITE_P(NotificationDeclaration, BreaksLexicon,
                         testing::ValuesIn(breaches_of<NotificationDeclaration>(
                             valid(), {"allowSubscriptions"}, {"allowSubscriptions"})),
                         breach_name);

TEST(NotificationDeclarationTest, fills_its_fields) {
  Valid<NotificationDeclaration> declaration(valid());
  EXPECT_EQ(declaration->allow_subscriptions, "followers");
  EXPECT_FALSE(declaration->created_at);
  EXPECT_EQ(declaration->extra, "");
  EXPECT_TRUE(references_of(declaration.decoded().record).empty());
}

TEST(NotificationDeclarationTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(NotificationDeclaration::kCollection, valid(), "other")->invalid_reason,
            "rkey: must be self");
}

TEST(NotificationDeclarationTest, keeps_what_its_lexicon_does_not_have) {
  json record = valid();
  record["createdAt"] = "yesterday";
  EXPECT_EQ(Valid<NotificationDeclaration>(record)->extra, R"({"createdAt":"yesterday"})");
}

}  // namespace
}  // namespace skua::test::notification_declaration_test
