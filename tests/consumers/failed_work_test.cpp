#include <ostream>

#include <gtest/gtest.h>

#include "consumers/fold_step.hpp"

namespace skua::consumers::failed_work_test {
namespace {

struct FailureCase {
  const char* sqlstate;
  FailedWork failed;
};

void PrintTo(const FailureCase& given, std::ostream* out) {
  *out << given.sqlstate;
}

class FailedWorkTest : public testing::TestWithParam<FailureCase> {};

TEST_P(FailedWorkTest, follows_from_the_sqlstate) {
  EXPECT_EQ(failed_work(postgres::SqlError("error", GetParam().sqlstate)), GetParam().failed);
}

INSTANTIATE_TEST_SUITE_P(
    All, FailedWorkTest,
    testing::Values(
        FailureCase{"", FailedWork::Server}, FailureCase{"08006", FailedWork::Server},
        FailureCase{"57P01", FailedWork::Server}, FailureCase{"53100", FailedWork::Server},
        FailureCase{"53300", FailedWork::Server}, FailureCase{"25006", FailedWork::Server},
        FailureCase{"23514", FailedWork::Change}, FailureCase{"22P02", FailedWork::Change},
        FailureCase{"54000", FailedWork::Change}, FailureCase{"57014", FailedWork::Change},
        FailureCase{"P0001", FailedWork::Change}, FailureCase{"55P03", FailedWork::Lock},
        FailureCase{"40P01", FailedWork::Lock}, FailureCase{"40001", FailedWork::Lock},
        FailureCase{"42703", FailedWork::Tables}, FailureCase{"42501", FailedWork::Tables},
        FailureCase{"42P01", FailedWork::Tables}, FailureCase{"21000", FailedWork::Tables},
        FailureCase{"55000", FailedWork::Tables}, FailureCase{"2200H", FailedWork::Tables},
        FailureCase{"2BP01", FailedWork::Tables}, FailureCase{"XX001", FailedWork::Tables},
        FailureCase{"0A000", FailedWork::Tables}));

}  // namespace
}  // namespace skua::consumers::failed_work_test
