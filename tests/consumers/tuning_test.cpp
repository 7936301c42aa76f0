#include "consumers/tuning.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skua::consumers::tuning_test {
namespace {

using std::chrono::milliseconds;

TEST(TuningTest, each_value_of_each_profile_is_within_its_limits) {
  for (const Tuning& profile : tuning_profiles()) {
    for (const TuningValue& value : tuning_values()) {
      SCOPED_TRACE(std::string(profile.profile) + " " + std::string(value.key));
      EXPECT_GE(value.read(profile), value.least);
      EXPECT_LE(value.read(profile), value.most);
    }
  }
}

TEST(TuningTest, overrides_replace_values_of_the_profile) {
  const Tuning tuning = tuning_of("relaxed", R"({"idle_ms": 7, "processors": 3, "other": 1})");
  EXPECT_EQ(tuning.idle, milliseconds(7));
  EXPECT_EQ(tuning.processors, 3);
  EXPECT_EQ(tuning.pause, milliseconds(5'000));
}

TEST(TuningTest, each_value_can_be_replaced) {
  for (const TuningValue& value : tuning_values()) {
    SCOPED_TRACE(value.key);
    const std::string key(value.key);
    const Tuning tuning = tuning_of("default", "{\"" + key + "\": 12345}");
    EXPECT_EQ(value.read(tuning), 12'345);
  }
}

TEST(TuningTest, an_unknown_profile_has_the_default_values) {
  EXPECT_EQ(tuning_of("other", "{}").batch, find_tuning_profile("default")->batch);
}

TEST(TuningTest, unknown_overrides_are_named) {
  EXPECT_EQ(unknown_override("webhook", R"({"batch": 1, "speed": 2})"), "speed");
  EXPECT_EQ(unknown_override("webhook", R"({"lease_ms": 2000})"), "lease_ms");
  EXPECT_EQ(unknown_override("pull", R"({"lease_ms": 2000})"), std::nullopt);
}

}  // namespace
}  // namespace skua::consumers::tuning_test
