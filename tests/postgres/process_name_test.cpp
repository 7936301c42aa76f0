#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/connection_string.hpp"

namespace skua::postgres::process_name_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kPid = " pid " + std::to_string(getpid()) + " at ";

TEST(ProcessNameTest, names_the_role_the_pid_and_the_token) {
  const std::string name = process_name("skua backfill");
  EXPECT_THAT(name, StartsWith("skua backfill" + kPid));
  EXPECT_THAT(name, EndsWith(" " + process_token()));
  EXPECT_EQ(process_name("skua backfill"), name);
}

TEST(ProcessNameTest, a_long_role_gives_way_to_the_token) {
  const std::string name = process_name("skua run relay:relay1.us-east.a-host-of-a-long-name.test");
  EXPECT_LE(name.size(), 63U);
  EXPECT_THAT(name, StartsWith("skua run relay:r"));
  EXPECT_THAT(name, HasSubstr(kPid.substr(0, kPid.size() - 4)));
  EXPECT_THAT(name, EndsWith(" " + process_token()));
}

TEST(ProcessNameTest, the_token_has_128_bits) {
  EXPECT_EQ(process_token().size(), 22U);
  EXPECT_EQ(process_token().find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
}

}  // namespace
}  // namespace skua::postgres::process_name_test
