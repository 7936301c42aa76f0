#include "report.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "median.hpp"

namespace skua::bench::report_test {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// Reports one figure; returns what is printed to stderr. `code`: the exit code.
std::string reported(double value, int decimals, int& code) {
  CaptureStderr();
  Report report{"rate"};
  report.figure("rate", value, decimals);
  code = report.finish();
  return GetCapturedStderr();
}

TEST(Report, all_figures_were_printed) {
  Report report{"rate", "ratio"};
  EXPECT_EQ(report.figure("rate", 1234.5), "1234");
  EXPECT_EQ(report.figure("ratio", 0.512, 2), "0.51");
  EXPECT_EQ(report.finish(), 0);
}

TEST(Report, a_figure_was_not_printed) {
  CaptureStderr();
  Report report{"rate", "ratio"};
  report.figure("ratio", 1);
  EXPECT_EQ(report.finish(), 1);
  EXPECT_EQ(GetCapturedStderr(), "no figure 'rate': it was not printed\n");
}

TEST(Report, a_figure_is_not_a_number) {
  int code = 0;
  EXPECT_EQ(reported(median({}), 0, code), "no figure 'rate': nan\n");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(reported(std::numeric_limits<double>::infinity(), 0, code), "no figure 'rate': inf\n");
  EXPECT_EQ(code, 1);
}

TEST(Report, a_figure_is_zero_as_printed) {
  int code = 0;
  EXPECT_EQ(reported(0, 0, code), "no figure 'rate': 0\n");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(reported(0.004, 2, code), "no figure 'rate': 0.00\n");
  EXPECT_EQ(code, 1);
  EXPECT_EQ(reported(0.004, 3, code), "");
  EXPECT_EQ(code, 0);
}

TEST(Report, an_error_that_is_not_about_a_figure) {
  CaptureStderr();
  Report report{};
  report.fail("the CAR was refused");
  EXPECT_EQ(report.finish(), 1);
  EXPECT_EQ(GetCapturedStderr(), "the CAR was refused\n");
}

}  // namespace
}  // namespace skua::bench::report_test
