#include "app/figures.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::app::figures_test {
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

TEST(FiguresLine, names_every_source_when_there_are_several) {
  Figures active = figures(0);
  active.source = "relay:a.example";
  active.role = Figures::Role::Active;
  Figures standby = figures(0);
  standby.source = "relay:b.example";
  standby.role = Figures::Role::Standby;
  Figures tap = figures(0);
  tap.source = "tap:localhost";
  const std::vector before{active, standby, tap};
  std::vector now = before;
  for (Figures& one : now) one.at = at(10);
  now[0].events = now[2].events = 50;  // of the process
  now[0].rows = now[2].rows = 40;
  now[0].bytes = 1'000'000;
  now[2].bytes = 500'000;
  now[0].newest = at(9);
  now[0].cursor = 12;
  now[1].cursor = 700;
  now[2].connected = false;
  EXPECT_EQ(figures_line(before, now, std::nullopt),
            "00:00:10  5 events/s  4 rows/s  13.0 GB/day in"
            " | relay:a.example active, lag 1.0 s, cursor 12"
            " | relay:b.example stands by, cursor 700"
            " | tap:localhost, not connected, cursor -");
  EXPECT_EQ(nlohmann::json::parse(to_json(now[1]))["role"], "standby");
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
}  // namespace skua::app::figures_test
