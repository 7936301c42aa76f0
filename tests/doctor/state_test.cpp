// The judgements of values that are compared with limits.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/consumers.hpp"
#include "doctor/cursors.hpp"
#include "doctor/roles.hpp"
#include "doctor/schema.hpp"
#include "doctor/server.hpp"
#include "doctor/unfinished.hpp"
#include "findings.hpp"

namespace skua::doctor::state_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using test::brief;
using test::briefs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct DiskCase {
  std::int64_t free;
  std::int64_t total;
  const char* expected;
};

class JudgeDisk : public testing::TestWithParam<DiskCase> {};

TEST_P(JudgeDisk, has_limits) {
  const auto [free, total, expected] = GetParam();
  EXPECT_EQ(brief(judge_disk({.database = 1, .space = DiskState::Space{free, total}})), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeDisk,
    testing::Values(DiskCase{999'999'999, 2'000'000'000, "error disk-full"},
                    DiskCase{1'000'000'000, 2'000'000'000, "warning disk-low"},
                    DiskCase{9'999'999'999, 20'000'000'000, "warning disk-low"},
                    DiskCase{10'000'000'000, 20'000'000'000, "ok"},
                    DiskCase{49'000'000'000, 1'000'000'000'000, "warning disk-low"},
                    DiskCase{51'000'000'000, 1'000'000'000'000, "ok"}));

TEST(JudgeDiskOfAnotherMachine, is_unknown) {
  const Finding finding = judge_disk({.database = 5'000'000'000, .space = {}});
  EXPECT_EQ(brief(finding), "skipped");
  EXPECT_THAT(finding.detail,
              HasSubstr("5.0 GB; the free space of the server's disk is not known"));
}

struct ClockCase {
  ClocksFound clocks;
  std::vector<std::string> expected;
};

class JudgeClocks : public testing::TestWithParam<ClockCase> {};

TEST_P(JudgeClocks, compares_with_all) {
  EXPECT_EQ(briefs(judge_clocks(GetParam().clocks)), GetParam().expected);
}

const std::string kWarning = "warning clock-wrong";
const std::string kError = "error clock-wrong";

INSTANTIATE_TEST_SUITE_P(
    All, JudgeClocks,
    testing::Values(ClockCase{{}, {"skipped"}}, ClockCase{{microseconds(4s), {4s, -4s}}, {"ok"}},
                    ClockCase{{microseconds(6s), {}}, {kWarning}},
                    ClockCase{{microseconds(-6s), {}}, {kWarning}},
                    ClockCase{{microseconds(10min), {}}, {kError}},
                    ClockCase{{std::nullopt, {-10min}}, {kError, "skipped"}},
                    ClockCase{{std::nullopt, {1s}}, {"ok", "skipped"}},
                    // One wrong host of three is not our clock.
                    ClockCase{{microseconds(0s), {0s, 1h, 1s}}, {"ok"}},
                    ClockCase{{microseconds(10min), {10min}}, {kError, kError}}));

TEST(JudgeClocksText, says_which_clock_is_behind) {
  const Findings findings = judge_clocks({microseconds(10min), {-20s, -20s}});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].detail, "the clock of this machine is 10 min behind PostgreSQL's");
  EXPECT_EQ(findings[1].detail, "the clock of this machine is 20 s ahead of that of 2 hosts");
}

struct SourceCase {
  const char* name;
  SourceFound source;
  const char* expected;
};

class JudgeSources : public testing::TestWithParam<SourceCase> {};

TEST_P(JudgeSources, looks_at_reader_cursor_and_lag) {
  EXPECT_THAT(briefs(judge_sources({GetParam().source})), ElementsAre(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeSources,
    testing::Values(
        SourceCase{"never_saved", {.name = "tap:x"}, "ok"},
        SourceCase{"stopped", {.name = "r", .cursor = 5, .cursor_age = 24h}, "ok"},
        SourceCase{"stopped_long",
                   {.name = "r", .cursor = 5, .cursor_age = 24h + 1s},
                   "warning cursor-old"},
        SourceCase{"read", {.name = "r", .cursor = 5, .cursor_age = 48h, .owner = "skua"}, "ok"},
        SourceCase{
            "current", {.name = "r", .owner = "skua", .metrics_age = 2min, .lag = 5min}, "ok"},
        SourceCase{"behind",
                   {.name = "r", .owner = "skua", .metrics_age = 5s, .lag = 5min + 1s},
                   "warning source-behind"},
        SourceCase{"hangs",
                   {.name = "r", .owner = "skua", .metrics_age = 2min + 1s, .lag = 0s},
                   "warning source-behind"}),
    [](const auto& each) { return each.param.name; });

TEST(JudgePlcCursor, looks_at_age_and_owner) {
  EXPECT_THAT(judge_plc_cursor(std::nullopt), IsEmpty());
  EXPECT_THAT(briefs(judge_plc_cursor(PlcCursorFound{.age = 48h})), ElementsAre("ok"));
  EXPECT_THAT(briefs(judge_plc_cursor(PlcCursorFound{10min, "skua"})), ElementsAre("ok"));
  EXPECT_THAT(briefs(judge_plc_cursor(PlcCursorFound{10min + 1s, "skua"})),
              ElementsAre("warning plc-down"));
}

TEST(JudgeLeases, each_kind_has_its_cure) {
  EXPECT_THAT(judge_leases({}), IsEmpty());
  using Kind = EndedLeases::Kind;
  const Findings findings = judge_leases(
      {{Kind::Jobs, 3, 2h}, {Kind::Lists, 1, 90s}, {Kind::Letters, 1, 90s}, {Kind::Lanes, 1, 90s}});
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(brief(findings[0]), "warning lease-stuck");
  EXPECT_THAT(findings[0].detail,
              HasSubstr("3 x repository of a backfill: the oldest lease ended"));
  EXPECT_THAT(findings[1].detail, HasSubstr("list"));
  EXPECT_THAT(findings[2].cure, HasSubstr("skua dead-letters replay"));
  EXPECT_THAT(findings[3].cure, HasSubstr("skua serve"));
}

TEST(JudgeBootstrap, an_open_one_is_an_error) {
  EXPECT_EQ(brief(judge_bootstrap(0)), "ok");
  EXPECT_EQ(brief(judge_bootstrap(1)), "error bootstrap-open");
}

TEST(JudgeRepositories, partial_ones_are_advice_and_failed_resyncs_a_warning) {
  EXPECT_EQ(brief(judge_repositories({})), "ok");
  EXPECT_EQ(brief(judge_repositories({.by_state = {{"partial", 49}, {"complete", 51}}})), "ok");
  const Finding half = judge_repositories({.by_state = {{"partial", 1}, {"complete", 1}}});
  EXPECT_EQ(brief(half), "ok partial-repositories");
  EXPECT_THAT(half.detail, HasSubstr("2 repositories, 50 % partial"));
  EXPECT_EQ(brief(judge_repositories({.by_state = {}, .resyncs_failed = 999})), "ok");
  EXPECT_EQ(brief(judge_repositories({.by_state = {}, .resyncs_failed = 1000})),
            "warning partial-repositories");
}

TEST(JudgeLetters, names_the_most_frequent_reasons) {
  EXPECT_EQ(brief(judge_letters({})), "ok");
  const Finding finding =
      judge_letters({10, {{5, "bad cbor"}, {2, std::string(500, 'x')}, {1, "a\nb"}}});
  EXPECT_EQ(brief(finding), "warning dead-letters");
  EXPECT_THAT(finding.detail, HasSubstr("10 dead letters: 5 x bad cbor, 2 x xxx"));
  EXPECT_THAT(finding.detail, HasSubstr("1 x a b, 2 x others"));
  EXPECT_LT(finding.detail.size(), 250U);
}

TEST(JudgeSchema, every_difference_has_a_code) {
  using Kind = SchemaState::Kind;
  EXPECT_EQ(brief(judge_schema({.text = "0059_x"})), "ok");
  const Finding old =
      judge_schema({.kind = Kind::Old, .text = "lacks 2 migrations, from 0058_functions on"});
  EXPECT_EQ(brief(old), "error schema-old");
  EXPECT_EQ(old.detail, "the database lacks 2 migrations, from 0058_functions on");
  EXPECT_EQ(brief(judge_schema({.kind = Kind::Newer, .text = "newer"})), "error schema-new");
  EXPECT_EQ(brief(judge_schema({.kind = Kind::Other, .text = "other"})), "error schema-other");
}

TEST(JudgeTableLayout, only_plain_tables_are_right) {
  EXPECT_EQ(brief(judge_table_layout(std::nullopt)), "ok");
  const Finding found = judge_table_layout("bsky.posts is partitioned: ...");
  EXPECT_EQ(brief(found), "error tables-divided");
  EXPECT_EQ(found.detail, "bsky.posts is partitioned: ...");
}

TEST(JudgeRole, the_owner_or_a_writer_is_needed_and_a_reader_is_warned) {
  EXPECT_EQ(brief(judge_role({.name = "skua"})), "ok");
  RoleFound writer{.name = "writer", .is_writer = true, .not_owned = 2, .example = "bsky.posts"};
  EXPECT_EQ(brief(judge_role(writer)), "ok");
  writer.not_writable = 1;
  writer.example_not_writable = "skua.cursors";
  EXPECT_EQ(brief(judge_role(writer)), "error role-rights");
  EXPECT_EQ(judge_role(writer).detail, "writer may not write 1 table, such as skua.cursors");
  RoleFound other{.name = "other", .not_owned = 2, .example = "bsky.posts", .not_writable = 2};
  EXPECT_EQ(brief(judge_role(other)), "error role-rights");
  EXPECT_EQ(judge_role(other).detail, "other does not own 2 tables, such as bsky.posts");
  other.is_reader = true;
  EXPECT_EQ(brief(judge_role(other)), "warning role-rights");
}

TEST(JudgeReaderRole, it_must_exist_and_read) {
  EXPECT_THAT(briefs(judge_reader_role(std::nullopt)), ElementsAre("skipped"));
  EXPECT_THAT(briefs(judge_reader_role(ReaderRole{.exists = true})), ElementsAre("ok"));
  EXPECT_THAT(briefs(judge_reader_role(ReaderRole{})), ElementsAre("warning reader-role"));
  EXPECT_THAT(briefs(judge_reader_role(ReaderRole{.exists = true, .lacks = 1})),
              ElementsAre("warning reader-role"));
}

}  // namespace
}  // namespace skua::doctor::state_test
