// The nodes of a query database as text, JSON and metrics.

#include "status/network_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::status::network_status_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const NetworkStatus kStatus{{{.name = "east",
                              .owned = "0,1,2",
                              .read_up_to = "2026-11-29 12:00:00",
                              .age = 4,
                              .has_waiting = true},
                             {.name = "west", .owned = "3", .problem = "no connection"}},
                            "4-63",
                            "the groups 2 are being moved"};

TEST(NetworkStatusTest, text_names_what_is_missing) {
  const std::string text = network_text(kStatus);
  EXPECT_THAT(text, HasSubstr("east: groups 0-2, read up to 2026-11-29 12:00:00 UTC, references "
                              "wait\n"));
  EXPECT_THAT(text,
              HasSubstr("west: groups 3, no event read\n    cannot be read: no connection\n"));
  EXPECT_THAT(text, HasSubstr("no node owns the groups 4-63"));
  EXPECT_THAT(text, HasSubstr("  the groups 2 are being moved\n"));
}

TEST(NetworkStatusTest, json_has_the_same) {
  const auto json = network_json(kStatus);
  EXPECT_EQ(json["missing_groups"], "4-63");
  EXPECT_EQ(json["move"], "the groups 2 are being moved");
  EXPECT_EQ(json["nodes"][0]["read_up_to"], "2026-11-29 12:00:00");
  EXPECT_TRUE(json["nodes"][0]["problem"].is_null());
  EXPECT_TRUE(json["nodes"][1]["read_up_to"].is_null());
  EXPECT_EQ(json["nodes"][1]["problem"], "no connection");
}

TEST(NetworkStatusTest, a_node_that_cannot_be_read_has_no_age) {
  const std::string text = prometheus_text(values_of_network(kStatus));
  EXPECT_THAT(text, HasSubstr("skua_node_up{node=\"east\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("skua_node_up{node=\"west\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("skua_node_event_age_seconds{node=\"east\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("skua_node_references_waiting{node=\"east\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("skua_node_event_age_seconds{node=\"west\"}")));
}

}  // namespace
}  // namespace skua::status::network_status_test
