#include "support/projections.hpp"

#include <string>

#include <gtest/gtest.h>

#include "feed/projections/projection.hpp"
#include "support/postgres.hpp"

namespace skua::feed::projections_test {
namespace {

class ProjectionsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(ProjectionsTest, all_are_built_of_an_empty_database) {
  test::add_projections(session(), 10);
  EXPECT_EQ(test::projection_differences(session()), "");
  EXPECT_EQ(value("SELECT string_agg(name || ' ' || role || ' ' || state, ', ' ORDER BY name) FROM "
                  "skua.consumers"),
            "actor_stats live running, notifications live running, post_stats live running, "
            "tag_trends live running");
}

}  // namespace
}  // namespace skua::feed::projections_test
