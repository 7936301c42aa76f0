#include "status/backfill_text.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::status::backfill_text_test {
namespace {

using namespace std::chrono_literals;
using backfill::JobState;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const Timestamp kNow{1'783'175'898s};

BackfillSnapshot moment() {
  BackfillSnapshot moment;
  moment.at = kNow;
  moment.metrics.repositories = 1'204;
  moment.metrics.in_hand = 64;
  moment.rates = {.repositories = 10, .records = 41'230, .bytes = 18'200'000};
  moment.queue.emplace();
  moment.queue->jobs.by_state = {{JobState::Queued, 48'210}, {JobState::Running, 64}};
  return moment;
}

TEST(BackfillLine, says_how_far_it_is_and_how_long_it_takes) {
  EXPECT_EQ(backfill_line(moment()),
            "14:38:18  1,204 repositories done, 64 under way, 48,210 queued  41230 records/s\n"
            "          18.2 MB/s  80 min left");
}

TEST(BackfillLine, says_what_is_not_counted_and_what_went_wrong) {
  BackfillSnapshot now = moment();
  now.queue->jobs.exact = false;
  now.rates = {};
  now.metrics.abandoned = 3;
  now.metrics.failed = 20;
  EXPECT_EQ(backfill_line(now),
            "14:38:18  1,204 repositories done, 64 under way, about 48,210 queued\n"
            "          0 records/s  0.0 MB/s  20 failed attempts, 3 abandoned");
  now.queue.reset();
  EXPECT_THAT(backfill_line(now), Not(HasSubstr("queued")));
}

TEST(WaitingWords, are_for_when_nothing_is_under_way_and_nothing_due) {
  BackfillSnapshot now = moment();
  now.metrics.in_hand = 0;
  now.queue->jobs.by_state = {{JobState::Queued, 2}};
  now.queue->jobs.next_due = kNow + 40s;
  EXPECT_EQ(waiting_text(now), "all that is queued waits; the next attempt comes in 40 s");
  now.queue->jobs.errors = {{JobState::Failed, "another", 1, kNow},
                            {JobState::Queued, "the host is away", 1, kNow}};
  EXPECT_THAT(waiting_text(now), HasSubstr("in 40 s: the host is away"));
  now.queue->next_page = kNow + 5s;
  EXPECT_THAT(waiting_text(now), HasSubstr("in 5 s"));
  EXPECT_THAT(waiting_text(now), Not(HasSubstr("the host is away"))) << "that is of a job";
  using backfill::ListState;
  now.queue->list_errors = {
      {{.host = "https://b.test"}, ListState::Failed, "no such collection", kNow},
      {{.host = "https://b.test"}, ListState::None, "later", kNow + 60s},
      {{.host = "https://a.test"}, ListState::None, "https://a.test: HTTP 429", kNow + 5s}};
  EXPECT_THAT(waiting_text(now), HasSubstr("in 5 s: https://a.test: HTTP 429"));

  BackfillSnapshot reads = now;
  reads.metrics.discovery.under_way = 1;
  EXPECT_EQ(waiting_text(reads), "");
  BackfillSnapshot works = now;
  works.metrics.in_hand = 1;
  EXPECT_EQ(waiting_text(works), "");
  BackfillSnapshot due = now;
  due.queue->jobs.next_due = kNow;
  due.queue->next_page.reset();
  EXPECT_EQ(waiting_text(due), "");
}

TEST(BackfillLine, says_that_the_database_is_down) {
  BackfillSnapshot now = moment();
  now.outage = postgres::Outage{kNow - 12s, "refused"};
  EXPECT_THAT(backfill_line(now), HasSubstr("  database down since 14:38:06 (12 s)\n"));
  EXPECT_THAT(backfill_screen(now, 80), testing::Contains("database down since 14:38:06 (12 s)"));
}

TEST(BackfillSummary, is_a_line_beside_what_is_about_something_else) {
  BackfillSnapshot now = moment();
  EXPECT_EQ(backfill_summary(now), "backfill: 1,204 done, 64 under way, 48,210 queued");
  now.queue.reset();
  EXPECT_EQ(backfill_summary(now), "backfill: 1,204 done, 64 under way");
}

class BackfillScreen : public testing::TestWithParam<std::size_t> {};

TEST_P(BackfillScreen, fits_into_the_width_and_obeys_no_host) {
  BackfillSnapshot now = moment();
  backfill::HostMetrics host;
  host.host = "https://pds.example";
  host.under_way = 3;
  host.at_once = 8;
  host.waits_until = kNow + 32s;
  host.last_error = "caf\u00e9 \x1b[2J\r\n";
  now.metrics.hosts = std::vector<backfill::HostMetrics>(9, host);
  now.queue->lists["repos"].lists[backfill::ListState::Listed] = 2;
  now.queue->jobs.errors = {{JobState::Failed, "the signature is not the account's", 7, kNow}};
  const std::vector<std::string> lines = backfill_screen(now, GetParam());
  EXPECT_THAT(lines, SizeIs(9));
  for (const std::string& line : lines) {
    std::size_t characters = 0;
    for (const char c : line) {
      characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
      EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    }
    EXPECT_LE(characters, GetParam()) << line;
  }
  if (GetParam() < 200) return;
  EXPECT_THAT(lines[3], HasSubstr("3 of 8"));
  EXPECT_THAT(lines[3], HasSubstr("waits 32 s  caf\u00e9 ?[2J  "));
  EXPECT_EQ(lines[8], "  7 failed: the signature is not the account's");
}

INSTANTIATE_TEST_SUITE_P(Widths, BackfillScreen, testing::Values(1, 20, 79, 300));

TEST(BackfillRateWindow, is_that_of_the_last_minute) {
  BackfillRateWindow pace;
  backfill::BackfillMetrics metrics;
  EXPECT_EQ(pace.add(metrics, kNow).records, 0);
  metrics.records = 1'000;
  metrics.repositories = 10;
  EXPECT_EQ(pace.add(metrics, kNow + 10s).records, 100);
  EXPECT_EQ(pace.add(metrics, kNow + 50s).repositories, 0.2);
  // The first sample is older than a minute by now.
  EXPECT_EQ(pace.add(metrics, kNow + 70s).records, 0);
}

}  // namespace
}  // namespace skua::status::backfill_text_test
