#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/schema.hpp"
#include "findings.hpp"

namespace skua::doctor::indexes_test {
namespace {

using test::briefs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<ExpectedIndex> kExpected = parse_indexes(
    "-- A comment.\n"
    "CREATE INDEX posts_quote ON bsky.posts USING btree (quote_actor);\n"
    "CREATE UNIQUE INDEX log_pkey ON ONLY skua.log USING btree (pos);\n");

TEST(ParseIndexes, gives_name_schema_and_statement) {
  ASSERT_EQ(kExpected.size(), 2U);
  EXPECT_EQ(kExpected[0].name, "bsky.posts_quote");
  EXPECT_FALSE(kExpected[0].is_unique);
  EXPECT_EQ(kExpected[0].statement,
            "CREATE INDEX posts_quote ON bsky.posts USING btree (quote_actor)");
  EXPECT_EQ(kExpected[1].name, "skua.log_pkey");
  EXPECT_TRUE(kExpected[1].is_unique);
}

TEST(ParseIndexes, refuses_other_text) {
  for (const char* text :
       {"DROP INDEX a;", "CREATE INDEX a;", "CREATE INDEX a ON bsky.b USING x"}) {
    EXPECT_THROW(parse_indexes(text), std::invalid_argument) << text;
  }
}

TEST(ParseIndexes, knows_the_schema) {
  EXPECT_GT(parse_indexes(schema_indexes()).size(), 80U);
}

TEST(JudgeIndexes, all_present_and_valid_is_ok) {
  const Findings findings = judge_indexes(
      kExpected, {.present = {{"bsky.posts_quote"}, {"skua.log_pkey"}, {"bsky.mine"}}});
  EXPECT_THAT(briefs(findings), ElementsAre("ok"));
}

TEST(JudgeIndexes, a_missing_index_has_the_statement_that_builds_it) {
  const Findings findings = judge_indexes(kExpected, {.present = {{"skua.log_pkey"}}});
  EXPECT_THAT(briefs(findings), ElementsAre("warning index-missing"));
  EXPECT_THAT(findings[0].detail, HasSubstr("1 index is missing: bsky.posts_quote"));
  EXPECT_THAT(findings[0].cure, HasSubstr("CREATE INDEX CONCURRENTLY posts_quote ON bsky.posts"));
}

TEST(JudgeIndexes, a_missing_unique_index_is_an_error) {
  const Findings findings = judge_indexes(kExpected, {.present = {{"bsky.posts_quote"}}});
  EXPECT_THAT(briefs(findings), ElementsAre("error index-missing"));
  EXPECT_THAT(findings[0].cure, Not(HasSubstr("CONCURRENTLY")));
}

TEST(JudgeIndexes, what_a_bootstrap_dropped_is_not_missing) {
  EXPECT_THAT(briefs(judge_indexes(
                  kExpected, {.present = {{"skua.log_pkey"}}, .dropped = {"bsky.posts_quote"}})),
              ElementsAre("ok"));
}

TEST(JudgeIndexes, an_invalid_index_is_rebuilt_or_dropped) {
  const Findings findings = judge_indexes(kExpected, {.present = {{"bsky.posts_quote", false},
                                                                  {"skua.log_pkey", false},
                                                                  {"bsky.mine", false},
                                                                  {"bsky.posts_quote_ccnew", false},
                                                                  {"bsky.busy", false, true}}});
  EXPECT_THAT(briefs(findings), ElementsAre("warning index-invalid", "error index-invalid",
                                            "warning index-invalid", "warning index-invalid"));
  EXPECT_EQ(findings[0].cure, "Run `reindex index concurrently bsky.posts_quote`.");
  EXPECT_THAT(findings[2].cure, HasSubstr("`drop index concurrently bsky.mine`"));
  EXPECT_THAT(findings[3].cure, HasSubstr("`drop index concurrently bsky.posts_quote_ccnew`"));
}

TEST(JudgeIndexes, many_missing_ones_are_summed_up) {
  std::string text;
  for (int i = 0; i < 9; ++i) {
    text += "CREATE INDEX i" + std::to_string(i) + " ON bsky.posts USING btree (rev);\n";
  }
  const Findings findings = judge_indexes(parse_indexes(text), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].detail, HasSubstr("9 indexes are missing: "));
  EXPECT_THAT(findings[0].detail, HasSubstr("bsky.i4 and 4 more"));
  EXPECT_THAT(findings[0].cure, Not(HasSubstr("i5")));
}

}  // namespace
}  // namespace skua::doctor::indexes_test
