#include "doctor/server.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"

namespace skua::doctor::server_test {
namespace {

using test::brief;
using test::briefs;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kGiB = 1024 * kMiB;

const postgres::ServerNeeds kNeeds{.locks = 20'000, .connections = 44, .durable = true};

postgres::ServerFacts good_server() {
  return {.version = 150018,
          .encoding = "UTF8",
          .max_connections = 100,
          .reserved_connections = 3,
          .max_locks_per_transaction = 256};
}

TEST(JudgeServer, a_good_server_is_ok) {
  const Findings findings = judge_server(good_server(), kNeeds);
  EXPECT_THAT(briefs(findings), ElementsAre("ok"));
  EXPECT_THAT(findings[0].detail, HasSubstr("PostgreSQL 15.18, UTF8, 100 connections"));
}

struct ServerCase {
  const char* name;
  std::function<void(postgres::ServerFacts&)> change;
  const char* code;
};

class JudgeServerCases : public testing::TestWithParam<ServerCase> {};

TEST_P(JudgeServerCases, have_a_code) {
  postgres::ServerFacts facts = good_server();
  GetParam().change(facts);
  EXPECT_THAT(briefs(judge_server(facts, kNeeds)),
              ElementsAre(std::string("error ") + GetParam().code));
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeServerCases,
    testing::Values(
        ServerCase{"version", [](auto& facts) { facts.version = 130021; }, "server-version"},
        ServerCase{"encoding", [](auto& facts) { facts.encoding = "LATIN1"; }, "server-version"},
        ServerCase{"standby", [](auto& facts) { facts.is_standby = true; }, "database-read-only"},
        ServerCase{"connections", [](auto& facts) { facts.reserved_connections = 57; },
                   "connections-full"},
        ServerCase{"locks", [](auto& facts) { facts.max_locks_per_transaction = 199; },
                   "lock-table-full"},
        ServerCase{"fsync", [](auto& facts) { facts.fsync = false; }, "unsafe-server"},
        ServerCase{"pages", [](auto& facts) { facts.full_page_writes = false; }, "unsafe-server"}),
    [](const auto& each) { return each.param.name; });

TEST(JudgeServer, an_unsafe_server_may_be_allowed) {
  postgres::ServerFacts facts = good_server();
  facts.fsync = false;
  postgres::ServerNeeds needs = kNeeds;
  needs.durable = false;
  const Findings findings = judge_server(facts, needs);
  EXPECT_THAT(briefs(findings), ElementsAre("ok"));
  EXPECT_THAT(findings[0].detail, HasSubstr("may lose data"));
}

TEST(JudgePooling, a_pooler_is_an_error) {
  EXPECT_EQ(brief(judge_pooling(std::nullopt)), "ok");
  EXPECT_EQ(brief(judge_pooling("a pooler")), "error connection-pooler");
}

TEST(JudgeServerSettings, defaults_are_advised_against) {
  const ServerSettings good{.shared_buffers = 512 * kMiB,
                            .max_wal_size = 4 * kGiB,
                            .random_page_cost = 1.1,
                            .jit = false};
  EXPECT_EQ(brief(judge_server_settings(good)), "ok");
  const auto advised = [&](const std::function<void(ServerSettings&)>& change) {
    ServerSettings settings = good;
    change(settings);
    const Finding finding = judge_server_settings(settings);
    EXPECT_EQ(brief(finding), "ok server-settings");
    return finding.detail;
  };
  EXPECT_THAT(advised([](auto& each) { each.shared_buffers = 128 * kMiB; }),
              HasSubstr("shared_buffers is 128 MB"));
  EXPECT_THAT(advised([](auto& each) { each.max_wal_size = kGiB; }),
              HasSubstr("max_wal_size is 1024 MB"));
  EXPECT_THAT(advised([](auto& each) { each.random_page_cost = 4; }),
              HasSubstr("random_page_cost is 4"));
  EXPECT_THAT(advised([](auto& each) { each.jit = true; }), HasSubstr("jit is on"));
}

TEST(JudgeReplicationSlots, only_those_that_keep_much_wal_are_named) {
  using Slots = std::vector<ReplicationSlot>;
  EXPECT_THAT(briefs(judge_replication_slots(Slots())), ElementsAre("ok"));
  EXPECT_THAT(
      briefs(judge_replication_slots(Slots{{"a", false, kGiB - 1}, {"b", true, 16 * kGiB - 1}})),
      ElementsAre("ok"));
  EXPECT_THAT(briefs(judge_replication_slots(std::nullopt)), ElementsAre("skipped"));
  const Findings findings =
      judge_replication_slots(Slots{{"a", false, kGiB}, {"b", true, 16 * kGiB}, {"c", true, 1}});
  EXPECT_THAT(briefs(findings),
              ElementsAre("warning replication-slot", "warning replication-slot"));
  EXPECT_THAT(findings[0].detail, HasSubstr("inactive slot a keeps 1.1 GB"));
}

}  // namespace
}  // namespace skua::doctor::server_test
