#include "records/profile.hpp"
#include "records/record_rules.hpp"

namespace skua::test::status_test {
namespace {

using records::Status;

json valid() {
  return {{"$type", "app.bsky.actor.status"},
          {"status", "app.bsky.actor.status#live"},
          {"durationMinutes", 90},
          {"embed",
           {{"$type", "app.bsky.embed.external"},
            {"external",
             {{"uri", "https://live.example/"}, {"title", "Live"}, {"description", "now"}}}}},
          {"createdAt", "2026-07-04T14:38:08.000Z"}};
}

INSTANTIATE_TEST_SUITE_P(Status, BreaksLexicon,
                         testing::ValuesIn(breaches_of<Status>(
                             valid(), {"status", "createdAt", "embed.$type", "embed.external"},
                             {"status", "createdAt", "durationMinutes", "embed", "embed.external",
                              "embed.external.title"})),
                         breach_name);

TEST(StatusTest, fills_its_fields) {
  Valid<Status> status(valid());
  EXPECT_EQ(status->status, "app.bsky.actor.status#live");
  EXPECT_EQ(status->duration_minutes, 90);
  EXPECT_EQ(json::parse(status->embed_json), valid()["embed"]);
  EXPECT_TRUE(status->created_at);
  EXPECT_EQ(status->extra, "");
  EXPECT_TRUE(references_of(status.decoded().record).empty());
}

TEST(StatusTest, counts_only_under_self) {
  EXPECT_EQ(DecodedJson(Status::kCollection, valid())->invalid_reason, "rkey: must be self");
}

TEST(StatusTest, takes_an_embed_that_it_does_not_know) {
  json record = valid();
  record["embed"] = {{"$type", "com.example.embed"}, {"a", 1}};
  EXPECT_EQ(json::parse(Valid<Status>(record)->embed_json), record["embed"]);
}

}  // namespace
}  // namespace skua::test::status_test
