#include "postgres/connection_string.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skua::postgres::connection_string_test {
namespace {

class GoodConnectionString : public testing::TestWithParam<std::string> {};

TEST_P(GoodConnectionString, has_no_problem) {
  EXPECT_EQ(connection_string_problem(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Forms, GoodConnectionString,
                         testing::Values("postgresql://localhost/skua",
                                         "postgres://u:p%40ss@db.test:5433/skua",
                                         "postgresql:///skua?host=/run/postgresql&port=5433",
                                         "host=localhost dbname=skua", "dbname=skua password='a b'",
                                         "postgresql://[::1]:5432/skua",
                                         "postgresql://a:1,b:2/skua?sslmode=verify-full",
                                         "host=a,b port=,5433"));

struct Wrong {
  std::string text;
  std::string reason;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.text;
}

class BadConnectionString : public testing::TestWithParam<Wrong> {};

TEST_P(BadConnectionString, has_a_reason_without_the_password) {
  const auto problem = connection_string_problem(GetParam().text);
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find(GetParam().reason), std::string::npos) << *problem;
  EXPECT_EQ(problem->find("secret"), std::string::npos) << *problem;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BadConnectionString,
    testing::Values(Wrong{"", "empty"}, Wrong{"  ", "empty"}, Wrong{"skua", "missing \"=\""},
                    Wrong{"http://localhost/skua", "missing \"=\""},
                    Wrong{"postgres:/localhost/skua", "missing \"=\""},
                    Wrong{"postgresql://localhost/skua?colour=red", "colour"},
                    Wrong{"postgresql://localhost:99999/skua", "99999"},
                    Wrong{"postgresql://localhost:port/skua", "'port'"},
                    Wrong{"host=a,b port=5432,0", "'5432,0'"},
                    Wrong{"postgresql://localhost/skua?sslmode=required", "'required'"},
                    Wrong{"postgresql://u:secret%@localhost/skua", "percent-encoded"},
                    Wrong{"postgresql://u:secret@[::1/skua", "]"},
                    Wrong{"password=secret skua", "missing \"=\""}));

TEST(ConnectionString, is_shown_without_its_password) {
  EXPECT_EQ(without_password("postgresql://u:se@cret@h:1/d"), "postgresql://u:***@h:1/d");
  EXPECT_EQ(without_password("postgresql://u@h:1/d"), "postgresql://u@h:1/d");
  EXPECT_EQ(without_password("postgresql://h/d?user=u&password=secret&port=1"),
            "postgresql://h/d?user=u&password=***&port=1");
  EXPECT_EQ(without_password("host=h password = 'a b' user=u"), "host=h password = *** user=u");
  EXPECT_EQ(without_password("host=h"), "host=h");
}

TEST(ConnectionNames, are_those_of_the_string) {
  const auto names = connection_names("postgresql://us%65r:secret@host:5433/data?sslmode=require");
  EXPECT_EQ(names.user, "user");
  EXPECT_EQ(names.database, "data");
  EXPECT_TRUE(names.has_password);
  const auto pairs = connection_names("user='a b' host=host");
  EXPECT_EQ(pairs.user, "a b");
  EXPECT_EQ(pairs.database, "a b");
  EXPECT_FALSE(pairs.has_password);
}

TEST(ConnectionString, leads_to_another_database) {
  const std::string other =
      with_database("postgresql://user:it%27s%5C@host:5433/data?sslmode=require", "post gres");
  const auto names = connection_names(other);
  EXPECT_EQ(names.user, "user");
  EXPECT_EQ(names.database, "post gres");
  EXPECT_TRUE(names.has_password);
  EXPECT_NE(other.find("host='host'"), std::string::npos);
  EXPECT_NE(other.find("port='5433'"), std::string::npos);
  EXPECT_NE(other.find("sslmode='require'"), std::string::npos);
  EXPECT_NE(other.find(R"(password='it\'s\\')"), std::string::npos);
}

}  // namespace
}  // namespace skua::postgres::connection_string_test
