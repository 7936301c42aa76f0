#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_statements.hpp"
#include "support/postgres.hpp"

namespace skua::statements_test {
namespace {

TEST(StatementsTest, the_names_are_unique) {
  std::set<std::string> names;
  for (const postgres::Statement* statement : all_statements()) {
    EXPECT_TRUE(names.insert(statement->name).second) << statement->name;
  }
  EXPECT_GT(names.size(), 100U);
}

TEST(StatementsTest, the_migrated_database_accepts_each_of_them) {
  SKUA_NEED_POSTGRES();
  test::Database database;
  postgres::Session session(database.url(), "test");
  for (const postgres::Statement* statement : all_statements()) {
    EXPECT_NO_THROW(session.prepare(*statement)) << statement->name << ":\n" << statement->sql;
  }
}

}  // namespace
}  // namespace skua::statements_test
