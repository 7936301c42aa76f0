#include "postgres/table_layout.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::postgres::table_layout_test {
namespace {

using testing::HasSubstr;
using testing::Optional;

struct Layout {
  const char* name;
  /// Makes the table bsky.odd.
  const char* sql;
  const char* text;

  friend void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }
};

class OddTableTest : public test::PostgresTest, public testing::WithParamInterface<Layout> {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_P(OddTableTest, is_named_with_its_layout) {
  EXPECT_EQ(table_layout_problem(session()), std::nullopt);
  session().run(GetParam().sql);
  EXPECT_THAT(table_layout_problem(session()), Optional(HasSubstr(GetParam().text)));
}

INSTANTIATE_TEST_SUITE_P(
    layouts, OddTableTest,
    testing::Values(
        Layout{"partitioned", "CREATE TABLE bsky.odd (id int8) PARTITION BY HASH (id)",
               "bsky.odd is partitioned"},
        Layout{"parent", "CREATE TABLE bsky.odd (); CREATE TABLE public.c () INHERITS (bsky.odd)",
               "bsky.odd is the parent of other tables"},
        Layout{"child", "CREATE TABLE public.p (); CREATE TABLE bsky.odd () INHERITS (public.p)",
               "bsky.odd is a part of another table"},
        Layout{"foreign",
               "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER s FOREIGN DATA WRAPPER nothing; "
               "CREATE FOREIGN TABLE bsky.odd (id int8) SERVER s",
               "bsky.odd is a foreign table"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace skua::postgres::table_layout_test
