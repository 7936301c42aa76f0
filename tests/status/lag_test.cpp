#include <gtest/gtest.h>

#include "status/reports.hpp"

namespace skua::status::lag_test {
namespace {

using namespace std::chrono_literals;

tables::StoredSource source() {
  tables::StoredSource source;
  source.name = "relay:a.example";
  source.cursor_age_seconds = 8.4;
  source.metrics = R"({"lag_seconds": 0.5})";
  source.metrics_age_seconds = 9;
  return source;
}

TEST(SavedLag, is_that_of_the_process_and_not_the_age_of_the_cursor) {
  EXPECT_EQ(saved_lag(source(), true), Seconds(0.5));
}

TEST(SavedLag, is_not_known_without_a_process_that_saves_it) {
  EXPECT_EQ(saved_lag(source(), false), std::nullopt);
  tables::StoredSource hangs = source();
  hangs.metrics_age_seconds = 121;
  EXPECT_EQ(saved_lag(hangs, true), std::nullopt);
  for (const char* metrics : {"{}", "[]", "{\"lag_seconds\": \"x\"}", "not JSON"}) {
    tables::StoredSource other = source();
    other.metrics = metrics;
    EXPECT_EQ(saved_lag(other, true), std::nullopt) << metrics;
  }
  tables::StoredSource odd = source();
  odd.metrics = R"({"lag_seconds": -1e300})";
  EXPECT_EQ(saved_lag(odd, true), Seconds(0));
}

TEST(LagText, has_tenths_of_a_second_or_a_longer_unit) {
  EXPECT_EQ(lag_text(Seconds(0)), "0.0 s");
  EXPECT_EQ(lag_text(119.9s), "119.9 s");
  EXPECT_EQ(lag_text(2min), "2 min");
}

}  // namespace
}  // namespace skua::status::lag_test
