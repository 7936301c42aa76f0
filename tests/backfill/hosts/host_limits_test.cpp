#include "backfill/hosts/host_limits.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace skua::backfill::host_limits_test {
namespace {

using namespace std::chrono_literals;
using End = HostOutcome::End;
using transport::RateLimit;
using Names = std::vector<std::string>;

const Timestamp kStart{std::chrono::hours(500'000)};

Names names(std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("https://pds{}", i));
  return names;
}

HostLimitsOptions in_all(std::size_t count) {
  HostLimitsOptions options;
  options.in_all = count;
  return options;
}

HostOutcome answered(std::chrono::milliseconds duration) {
  HostOutcome outcome;
  outcome.repository = true;
  outcome.bytes = 1000;
  outcome.duration = duration;
  return outcome;
}

HostOutcome limited(std::chrono::milliseconds duration) {
  HostOutcome outcome;
  outcome.end = End::Limited;
  outcome.duration = duration;
  outcome.error = "429";
  return outcome;
}

std::size_t total(const std::vector<HostSlots>& slots) {
  return std::accumulate(slots.begin(), slots.end(), std::size_t{0},
                         [](std::size_t sum, const auto& slot) { return sum + slot.count; });
}

TEST(HostLimits, many_hosts_of_one_domain_get_its_share) {
  HostLimits limits(in_all(9));
  Names hosts{"https://pds.alice.example", "https://pds.bob.example.org"};
  for (int i = 0; i < 100; ++i) hosts.push_back(fmt::format("https://{}.crowd.test", i));
  std::map<std::string, std::size_t> given;
  for (const HostSlots& slots : limits.free_slots(hosts, kStart)) given[slots.host] = slots.count;
  // A third each.
  EXPECT_EQ(given["https://pds.alice.example"], 3U);
  EXPECT_EQ(given["https://pds.bob.example.org"], 3U);
  EXPECT_EQ(total(limits.free_slots(hosts, kStart)), 9U);
}

TEST(HostLimits, one_domain_never_has_all_while_others_wait) {
  auto options = in_all(8);
  options.host.at_first = 1;
  HostLimits limits(options);
  Names crowd;
  for (int i = 0; i < 100; ++i) crowd.push_back(fmt::format("https://{}.crowd.test", i));
  EXPECT_EQ(total(limits.free_slots(crowd, kStart)), 8U) << "alone it may";
  Names all = crowd;
  all.push_back("https://pds.alice.example");
  for (const HostSlots& slots : limits.free_slots(all, kStart)) limits.started(slots.host, kStart);
  EXPECT_EQ(limits.under_way(), 7U) << "three quarters of the places, and alice's";
  all.push_back("https://pds.bob.example.org");
  const auto free = limits.free_slots(all, kStart);
  ASSERT_EQ(free.size(), 1U);
  EXPECT_EQ(free[0].host, "https://pds.bob.example.org");
}

TEST(HostLimits, gives_each_host_its_turn) {
  HostLimits limits(in_all(8));
  const auto hosts = names(100);
  std::map<std::string, int> served;
  auto now = kStart;
  for (int round = 0; round < 25; ++round) {
    Names started;
    for (const auto& slot : limits.free_slots(hosts, now)) {
      for (std::size_t i = 0; i < slot.count; ++i) started.push_back(slot.host);
    }
    ASSERT_EQ(started.size(), 8U);
    for (const auto& host : started) limits.started(host, now);
    now += 100ms;
    for (const auto& host : started) {
      limits.finished(host, answered(100ms), now);
      ++served[host];
    }
  }
  // 200 downloads of 100 hosts.
  for (const auto& host : hosts) EXPECT_EQ(served[host], 2) << host;
}

TEST(HostLimits, a_free_place_goes_to_the_host_that_holds_fewest) {
  HostLimits limits(in_all(6));
  const Names slow = {"https://slow"};
  for (int i = 0; i < 4; ++i) limits.started("https://slow", kStart);
  const auto slots = limits.free_slots(Names{"https://slow", "https://fast"}, kStart);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].host, "https://fast");
  EXPECT_EQ(slots[0].count, 2U);
}

TEST(HostLimits, nobody_holds_more_than_half_while_others_have_work) {
  auto options = in_all(8);
  options.host.at_first = 16;
  HostLimits limits(options);
  EXPECT_EQ(total(limits.free_slots(Names{"https://a"}, kStart)), 8U);
  // The other host must wait, but its half of the slots stays free.
  limits.started("https://b", kStart);
  limits.finished("https://b", limited(0ms), kStart);
  const auto slots = limits.free_slots(Names{"https://a", "https://b"}, kStart);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].host, "https://a");
  EXPECT_EQ(slots[0].count, 4U);
}

TEST(HostLimits, a_single_place_is_still_given) {
  HostLimits limits(in_all(1));
  EXPECT_EQ(total(limits.free_slots(names(3), kStart)), 1U);
}

TEST(HostLimits, takes_a_host_that_is_named_twice_for_one) {
  HostLimits limits(in_all(64));
  EXPECT_EQ(total(limits.free_slots(Names{"https://a", "https://a"}, kStart)), 4U);
}

TEST(HostLimits, forgets_idle_hosts_and_keeps_waits) {
  auto options = in_all(64);
  options.most_known = 100;
  HostLimits limits(options);
  auto now = kStart;
  limits.started("https://waits", now);
  auto asked = limited(0ms);
  asked.asked_wait = 30min;
  limits.finished("https://waits", asked, now);
  limits.started("https://busy", now);
  for (const auto& host : names(1000)) {
    now += 1ms;
    limits.started(host, now);
    limits.finished(host, answered(0ms), now);
    EXPECT_LE(limits.known_hosts(), 100U);
  }
  EXPECT_EQ(limits.free_slots(Names{"https://waits"}, now).size(), 0U);
  EXPECT_EQ(limits.under_way(), 1U);
  now += 11min;
  limits.started("https://new", now);
  EXPECT_EQ(limits.known_hosts(), 3U);
  now += 30min;
  limits.started("https://newer", now);
  EXPECT_EQ(limits.known_hosts(), 3U) << "the wait is over and the host forgotten";
}

TEST(HostLimits, shows_the_busiest_first) {
  HostLimits limits(in_all(64));
  auto now = kStart;
  for (const auto* host : {"https://b", "https://b", "https://a", "https://c"}) {
    limits.started(host, now);
  }
  now += 1s;
  limits.finished("https://c", limited(1s), now);
  const auto metrics = limits.metrics(10, now);
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].host, "https://b");
  EXPECT_EQ(metrics[0].under_way, 2U);
  EXPECT_EQ(metrics[0].at_once, 4U);
  EXPECT_EQ(metrics[1].host, "https://a");
  EXPECT_EQ(metrics[2].last_error, "429");
  EXPECT_EQ(metrics[2].waits_until, now + 5s);
  EXPECT_EQ(metrics[2].failures, 1U);
  EXPECT_EQ(metrics[2].bytes, 0U);
  EXPECT_EQ(limits.metrics(1, now).size(), 1U);
  EXPECT_EQ(limits.next_change(now), now + 5s);
}

TEST(HostLimits, looks_again_when_the_first_wait_is_over) {
  HostLimits limits(in_all(64));
  EXPECT_EQ(limits.next_change(kStart), std::nullopt);
  auto asked = limited(0ms);
  for (const auto& host : names(10)) {
    asked.asked_wait = std::chrono::seconds(100 - 5 * (host.back() - '0'));
    limits.started(host, kStart);
    limits.finished(host, asked, kStart);
  }
  EXPECT_EQ(limits.next_change(kStart), kStart + 55s);
  EXPECT_EQ(limits.next_change(kStart + 57s), kStart + 60s);
  EXPECT_EQ(limits.next_change(kStart + 2min), std::nullopt);
}

TEST(HostLimits, refuses_to_finish_what_was_not_started) {
  HostLimits limits(in_all(64));
  EXPECT_THROW(limits.finished("https://a", answered(0ms), kStart), std::logic_error);
}

TEST(DecayingRate, is_what_happens_a_second_and_fades) {
  DecayingRate rate;
  auto now = kStart;
  for (int i = 0; i < 6000; ++i) rate.add(1, now += 100ms);
  EXPECT_NEAR(rate.per_second(now), 10, 0.1);
  EXPECT_NEAR(rate.per_second(now + 1min), 3.7, 0.1);
  EXPECT_NEAR(rate.per_second(now + 1h), 0, 0.1);
  EXPECT_NEAR(rate.per_second(now - 1h), 10, 0.1) << "a clock that was set back";
}

/// A made-up host: how it answers, and when it wants to be left alone.
class MadeHost {
 public:
  enum class Kind { Fast, Slow, Windowed, Limiting, LimitingBare, Down, Flaky, Passing };
  static constexpr int kKinds = 8;

  MadeHost(Kind its_kind, std::size_t its_jobs) : kind(its_kind), jobs(its_jobs) {}

  const Kind kind;
  std::size_t jobs;
  std::size_t under_way = 0;
  std::size_t done = 0;
  std::size_t limited = 0;
  Timestamp asked_until;
  std::vector<Timestamp> starts;

  /// The end of a download that starts now; its duration is chosen here.
  HostOutcome answer(Timestamp now, std::mt19937& random) {
    const auto choose = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    auto outcome = answered(std::chrono::milliseconds(choose(10, 800)));
    switch (kind) {
      case Kind::Fast:
        break;
      case Kind::Slow:
        outcome.duration = std::chrono::seconds(choose(20, 90));
        break;
      case Kind::Windowed:
        return in_window(now, outcome);
      case Kind::Limiting:
        if (choose(0, 9) > 0) break;
        return refused(outcome, std::chrono::seconds(choose(0, 400)));
      case Kind::LimitingBare:
        if (choose(0, 9) > 0) break;
        return refused(outcome, std::nullopt);
      case Kind::Down:
        return failed(outcome, End::Unreachable);
      case Kind::Flaky:
        if (choose(0, 4) > 0) break;
        return failed(outcome, choose(0, 1) == 0 ? End::Failed : End::Unreachable);
      case Kind::Passing:
        if (now >= kStart + 5min) break;
        return refused(outcome, std::nullopt);
    }
    return outcome;
  }

 private:
  static constexpr std::int64_t kWindowLimit = 300;
  static constexpr auto kWindow = 60s;

  /// Limits requests as a PDS does, by the time at which they arrive.
  HostOutcome in_window(Timestamp now, HostOutcome outcome) {
    if (now >= window_end_) {
      window_end_ = now + kWindow;
      used_ = 0;
    }
    const auto reset = std::chrono::ceil<std::chrono::seconds>(window_end_ - now);
    if (++used_ > kWindowLimit) return refused(outcome, reset);
    outcome.rate_limit = RateLimit{kWindowLimit, kWindowLimit - used_, reset};
    if (used_ == kWindowLimit) outcome.asked_wait = reset;
    return outcome;
  }

  HostOutcome refused(HostOutcome outcome, std::optional<std::chrono::seconds> wait) {
    outcome = failed(outcome, End::Limited);
    outcome.asked_wait = wait;
    ++limited;
    return outcome;
  }

  static HostOutcome failed(HostOutcome outcome, End end) {
    outcome.end = end;
    outcome.repository = false;
    outcome.error = "an error";
    return outcome;
  }

  Timestamp window_end_;
  std::int64_t used_ = 0;
};

struct Schedule {
  unsigned seed;
  std::size_t hosts;
  std::size_t in_all;
};

class HostLimitsSchedules : public ::testing::TestWithParam<Schedule> {
 protected:
  struct Ending {
    std::string host;
    HostOutcome outcome;
  };

  void SetUp() override {
    for (const auto& name : names(GetParam().hosts)) {
      const auto kind = static_cast<MadeHost::Kind>(random_() % MadeHost::kKinds);
      hosts_.emplace(name, MadeHost(kind, 20 + random_() % 2000));
    }
  }

  Names with_work() const {
    Names with_work;
    for (const auto& [name, host] : hosts_) {
      if (host.jobs > 0) with_work.push_back(name);
    }
    return with_work;
  }

  void start(const std::string& name, bool others_have_work) {
    auto& host = hosts_.at(name);
    ASSERT_GT(host.jobs, 0U);
    ASSERT_GE(now_, host.asked_until) << "sooner than the host asked for";
    --host.jobs;
    ++host.under_way;
    host.starts.push_back(now_);
    limits_.started(name, now_);
    auto outcome = host.answer(now_, random_);
    outcome.started_at = now_;
    endings_.emplace(now_ + outcome.duration, Ending{name, outcome});
    ASSERT_LE(host.under_way, 16U);
    ASSERT_LE(limits_.under_way(), GetParam().in_all);
    if (others_have_work) {
      ASSERT_LE(host.under_way, std::max<std::size_t>(1, GetParam().in_all / 2));
    }
  }

  void start_all() {
    const auto hosts = with_work();
    for (const auto& slot : limits_.free_slots(hosts, now_)) {
      const auto count = std::min(slot.count, hosts_.at(slot.host).jobs);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_NO_FATAL_FAILURE(start(slot.host, hosts.size() > 1));
      }
    }
  }

  void end_first() {
    const auto first = endings_.begin();
    const auto [name, outcome] = first->second;
    endings_.erase(first);
    auto& host = hosts_.at(name);
    --host.under_way;
    const bool again = outcome.end != End::Answered;
    if (again) {
      ++host.jobs;
    } else {
      ++host.done;
    }
    if (outcome.asked_wait) {
      const auto wait = std::min<std::chrono::seconds>(*outcome.asked_wait, 1h);
      host.asked_until = std::max(host.asked_until, now_ + wait);
    }
    limits_.finished(name, outcome, now_);
  }

  /// To the next moment at which something happens.
  void advance() {
    const auto change = limits_.next_change(now_);
    ASSERT_TRUE(change || !endings_.empty()) << "there is work, and nothing would ever happen";
    if (change) {
      ASSERT_GT(*change, now_);
    }
    if (endings_.empty() || (change && *change < endings_.begin()->first)) {
      now_ = *change;
      return;
    }
    now_ = endings_.begin()->first;
    end_first();
  }

  std::mt19937 random_{GetParam().seed};
  std::map<std::string, MadeHost> hosts_;
  std::multimap<Timestamp, Ending> endings_;
  HostLimits limits_{in_all(GetParam().in_all)};
  Timestamp now_ = kStart;
};

TEST_P(HostLimitsSchedules, keep_limits_and_waits_and_serve_everybody) {
  // Hosts that never answer keep their jobs, so they do not count.
  const auto work_is_left = [&] {
    return std::any_of(hosts_.begin(), hosts_.end(), [](const auto& entry) {
      return entry.second.kind != MadeHost::Kind::Down && entry.second.jobs > 0;
    });
  };
  while (work_is_left()) {
    ASSERT_LT(now_, kStart + std::chrono::hours(24 * 30));
    ASSERT_NO_FATAL_FAILURE(start_all());
    ASSERT_NO_FATAL_FAILURE(advance());
  }
  for (const auto& [name, host] : hosts_) {
    SCOPED_TRACE(name + ", kind " + std::to_string(static_cast<int>(host.kind)));
    EXPECT_GT(host.starts.size(), 0U);
    if (host.kind == MadeHost::Kind::Windowed) {
      EXPECT_LE(host.limited, host.done / 100) << "a limit that is told is hardly ever met";
    }
    if (host.kind == MadeHost::Kind::Down && now_ > kStart + 2h) {
      const auto late = std::count_if(host.starts.begin(), host.starts.end(),
                                      [](Timestamp start) { return start > kStart + 1h; });
      EXPECT_LE(late, 6 * ((now_ - kStart) / 1h) + 1) << "asked less and less";
    }
  }
}

std::vector<Schedule> schedules() {
  std::vector<Schedule> schedules;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    schedules.push_back({seed, 1 + seed * 5 % 40, seed % 3 == 0 ? 3U : 64U});
  }
  return schedules;
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostLimitsSchedules, ::testing::ValuesIn(schedules()),
                         [](const auto& test) { return fmt::format("seed_{}", test.param.seed); });

}  // namespace
}  // namespace skua::backfill::host_limits_test
