#include "consumers/projections/projection_file.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::consumers::projection_file_test {
namespace {

using testing::ElementsAre;

std::string_view no_file(std::string_view name) {
  throw std::invalid_argument("no file " + std::string(name));
}

const std::string kWhole = R"(-- projection: langs
-- version: 4
-- help: Posts by language
-- lanes: several
-- depends on: post_rules, tag_trends

-- A comment, and SQL of two lines.
-- table: langs
posts int8 NOT NULL,
-- Within a part, too.
lang text NOT NULL PRIMARY KEY
-- index: (posts)
-- internal table: counted_langs
lang text
-- fill
INSERT INTO {langs} {{rows}} ORDER BY 1;
-- fragment: rows
SELECT {{columns}} FROM bsky.posts
-- fragment: columns
count(*), lang
-- fold
SELECT 1
-- fold
SELECT 2
-- drain
SELECT 3
-- waiting
SELECT NULL::int8, false
-- publish
SELECT 4
-- differences
SELECT '{{columns}}'
)";

TEST(ProjectionFile, has_all_parts) {
  const Projection projection = parse_projection(kWhole, no_file);
  EXPECT_EQ(projection.name, "langs");
  EXPECT_EQ(projection.version, 4);
  EXPECT_EQ(projection.help, "Posts by language");
  EXPECT_TRUE(projection.has_lanes);
  EXPECT_THAT(projection.depends_on, ElementsAre("post_rules", "tag_trends"));
  ASSERT_EQ(projection.tables.size(), 2U);
  EXPECT_EQ(projection.tables[0].definition,
            "posts int8 NOT NULL,\nlang text NOT NULL PRIMARY KEY");
  EXPECT_THAT(projection.tables[0].indexes, ElementsAre("(posts)"));
  EXPECT_FALSE(projection.tables[0].is_internal);
  EXPECT_TRUE(projection.tables[1].is_internal);
  EXPECT_THAT(projection.fill,
              ElementsAre("INSERT INTO {langs} SELECT count(*), lang FROM bsky.posts ORDER BY 1"));
  EXPECT_THAT(projection.fold, ElementsAre("SELECT 1", "SELECT 2"));
  EXPECT_THAT(projection.drain, ElementsAre("SELECT 3"));
  EXPECT_EQ(projection.waiting_pos, "SELECT NULL::int8, false");
  EXPECT_EQ(projection.publish, "SELECT 4");
  EXPECT_EQ(projection.differences, "SELECT 'count(*), lang'");
}

TEST(ProjectionFile, the_parts_of_an_included_file_stand_in_its_place) {
  const std::string text = R"(-- projection: langs
-- table: langs
a int8
-- fold
SELECT 1
-- include: queue
-- fold
SELECT 3
-- fill
SELECT
-- differences
SELECT
)";
  const Projection projection = parse_projection(text, [](std::string_view name) {
    EXPECT_EQ(name, "queue");
    return "-- internal table: PROJECTION_queue\nb int8\n-- fold\nDELETE FROM {PROJECTION_queue}\n";
  });
  ASSERT_EQ(projection.tables.size(), 2U);
  EXPECT_EQ(projection.tables[1].name, "langs_queue");
  EXPECT_THAT(projection.fold, ElementsAre("SELECT 1", "DELETE FROM {langs_queue}", "SELECT 3"));
}

struct Mistake {
  const char* name;
  /// A text of `kWhole`, and what stands in its place.
  const char* from;
  const char* to;
  const char* message;
};

class ProjectionFileMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ProjectionFileMistake, is_named) {
  std::string text = kWhole;
  const auto at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  try {
    parse_projection(text, no_file);
    ADD_FAILURE() << "it was read";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ProjectionFileMistake,
    testing::Values(
        Mistake{"version", "version: 4", "version: x", "line 2: the version is a number from 1 on"},
        Mistake{"zero", "version: 4", "version: 0", "line 2: the version is a number from 1 on"},
        Mistake{"lanes", "several", "many", "line 4: `-- lanes:` has the value `several`"},
        Mistake{"name", "-- projection: langs",
                "-- projection:", "`-- projection: NAME` is missing"},
        Mistake{"sql_first", "-- projection: langs", "SELECT 1;",
                "line 1: SQL in front of the first part"},
        Mistake{"fragment", "{{rows}}", "{{row}}",
                "{{row}} is no fragment of the file, or contains itself"},
        Mistake{"endless", "count(*), lang", "{{rows}}",
                "{{columns}} is no fragment of the file, or contains itself"},
        Mistake{"empty", "SELECT 2\n", "", "line 23: `-- fold` has no SQL"},
        Mistake{"include", "-- publish\nSELECT 4", "-- include: other", "no file other"},
        Mistake{"differences", "-- differences", "-- difference", "`-- differences` is missing"}),
    [](const auto& mistake) { return std::string(mistake.param.name); });

TEST(ProjectionFile, all_projections_of_the_program_are_read) {
  EXPECT_THAT(projections(), testing::Each(testing::Field(&Projection::help, testing::Ne(""))));
  EXPECT_EQ(projections().size(), 5U);
  ASSERT_NE(find_projection("post_rules"), nullptr);
  EXPECT_EQ(find_projection("post_rules")->tables.size(), 4U);
  EXPECT_EQ(find_projection("post_queue"), nullptr);
}

}  // namespace
}  // namespace skua::consumers::projection_file_test
