#include "app/figures.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::app {
namespace {

Timestamp at(std::int64_t seconds) {
  return Timestamp(std::chrono::seconds(seconds));
}

Figures figures(std::int64_t seconds) {
  Figures figures;
  figures.at = at(seconds);
  figures.connected = true;
  return figures;
}

TEST(FiguresLine, says_what_happened_a_second) {
  Figures before = figures(1'783'175'888);
  Figures now = figures(1'783'175'898);
  now.events = 8'120;
  now.rows = 7'900;
  now.bytes = 4'050'000;
  now.cursor = 12345;
  now.newest = at(1'783'175'897);
  EXPECT_EQ(
      figures_line(before, now, 1'000'000),
      "14:38:18  812 events/s  790 rows/s  lag 1.0 s  cursor 12345  35.0 GB/day in, 8.6 GB/day "
      "on disk");
}

TEST(FiguresLine, says_what_is_not_known) {
  Figures now = figures(10);
  EXPECT_EQ(figures_line(figures(0), now, std::nullopt),
            "00:00:10  0 events/s  0 rows/s  lag -  cursor -  0.0 GB/day in");
  now.connected = false;
  now.dead_letters = 2;
  EXPECT_EQ(
      figures_line(figures(0), now, std::nullopt),
      "00:00:10  0 events/s  0 rows/s  not connected  cursor -  0.0 GB/day in  2 dead letters");
}

TEST(FiguresJson, has_the_lag_when_there_is_an_event) {
  Figures now = figures(100);
  EXPECT_FALSE(nlohmann::json::parse(to_json(now)).contains("lag_seconds"));
  now.newest = at(98);
  now.cursor = 7;
  const auto json = nlohmann::json::parse(to_json(now));
  EXPECT_EQ(json["lag_seconds"], 2.0);
  EXPECT_EQ(json["cursor"], 7);
}

}  // namespace
}  // namespace skua::app
