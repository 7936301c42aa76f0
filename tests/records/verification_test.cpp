#include "records/record_rules.hpp"
#include "records/relations.hpp"

namespace skua::test::verification_test {
namespace {

using records::Verification;

json valid() {
  return {{"$type", "app.bsky.graph.verification"},
          {"subject", kDid},
          {"handle", "alice.example"},
          {"displayName", "Alice"},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(Verification, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Verification>(
                             valid(), {"subject", "handle", "displayName", "createdAt"},
                             {"subject", "handle", "displayName", "createdAt"})),
                         breach_name);

TEST(VerificationTest, fills_its_fields) {
  Valid<Verification> verification(valid());
  EXPECT_EQ(verification->subject.did, kDid);
  EXPECT_EQ(verification->handle, "alice.example");
  EXPECT_EQ(verification->display_name, "Alice");
  EXPECT_TRUE(verification->created_at);
  EXPECT_EQ(verification->extra, "");
  EXPECT_EQ(references_of(verification.decoded().record), std::vector{std::string(kDid)});
}

}  // namespace
}  // namespace skua::test::verification_test
