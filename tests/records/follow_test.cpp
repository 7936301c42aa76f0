#include "records/record_rules.hpp"
#include "records/relations.hpp"

namespace skua::test::follow_test {
namespace {

using records::Follow;

const std::string kPack = uri_of(kOtherDid, "app.bsky.graph.starterpack", "3jquh3dxgi52o");

json valid() {
  return {{"$type", "app.bsky.graph.follow"},
          {"subject", kDid},
          {"via", strong_ref(kPack)},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(Follow, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Follow>(valid(),
                                                               {"subject", "createdAt", "via.uri"},
                                                               {"subject", "createdAt", "via"})),
                         breach_name);

TEST(FollowTest, fills_its_fields) {
  Valid<Follow> follow(valid());
  EXPECT_EQ(follow->subject.did, kDid);
  EXPECT_EQ(follow->via->collection, "app.bsky.graph.starterpack");
  EXPECT_TRUE(follow->created_at);
  EXPECT_EQ(follow->extra, "");
  EXPECT_EQ(references_of(follow.decoded().record), (std::vector{std::string(kDid), kPack}));
}

TEST(FollowTest, its_references_can_be_resolved_in_place) {
  Valid<Follow> follow(valid());
  struct Resolver {
    void operator()(records::ActorRef& actor) const { actor.id = 5; }
    void operator()(records::RecordRef& reference) const { reference.rkey_number = 6; }
  };
  records::visit_references(follow.decoded().record, Resolver{});
  EXPECT_EQ(follow->subject.id, 5);
  EXPECT_EQ(follow->via->rkey_number, 6);
}

TEST(FollowTest, refuses_a_handle_as_subject) {
  json record = valid();
  record["subject"] = "alice.example";
  EXPECT_EQ(DecodedJson(Follow::kCollection, record)->invalid_reason, "subject: not a DID");
}

}  // namespace
}  // namespace skua::test::follow_test
