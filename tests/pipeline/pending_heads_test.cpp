#include "pipeline/pending_heads.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::pipeline::pending_heads_test {
namespace {

using tables::RepositoryProgress;
using tables::RepositoryRow;
using verify::Continuity;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kCarol = "did:plc:carol";

RepositoryRow row(const std::string& did, std::uint64_t rev, bool active = true) {
  return {did,
          atproto::RepositoryHead{{rev}, atproto::Cid::of(as_bytes("tree " + std::to_string(rev)))},
          active};
}

std::string text(const RepositoryRow& row) {
  return row.did + " " + (row.head ? std::to_string(row.head->rev.value) : "-") +
         (row.active ? "" : " inactive");
}

using Texts = std::vector<std::string>;

Texts texts(const std::vector<RepositoryProgress>& all) {
  Texts lines;
  for (const auto& one : all) {
    lines.push_back(text(one.row) + " " + std::to_string(one.breaks) +
                    (one.anchor ? " from " + std::to_string(one.anchor->value) : "") +
                    (one.born ? " born" : ""));
  }
  return lines;
}

std::string newest(const PendingHeads& log, const std::string& did) {
  const auto row = log.newest(did);
  return row ? text(*row) : "";
}

Texts texts(const std::vector<tables::Gap>& gaps) {
  Texts texts;
  for (const tables::Gap& gap : gaps) {
    texts.push_back(gap.did + (gap.rev ? " " + std::to_string(gap.rev->value) : ""));
  }
  return texts;
}

TEST(PendingHeads, gives_what_stands_below_the_ticket) {
  PendingHeads log;
  EXPECT_TRUE(log.collect(5).empty());
  log.add(5, row(kAlice, 1), Continuity::Next);
  log.add(7, row(kBob, 1), Continuity::Next);
  EXPECT_TRUE(log.collect(5).empty());
  EXPECT_EQ(texts(log.collect(7)), Texts{kAlice + " 1 0"});
  log.stored();
  EXPECT_TRUE(log.collect(7).empty());
  EXPECT_EQ(texts(log.collect(8)), Texts{kBob + " 1 0"});
}

TEST(PendingHeads, folds_an_account_to_its_last_and_sums_its_breaks) {
  PendingHeads log;
  log.add(1, row(kAlice, 1), Continuity::Broken);
  log.add(2, row(kAlice, 2), Continuity::Next);
  log.add(3, row(kAlice, 3), Continuity::Broken);
  log.add(4, row(kAlice, 3, false), Continuity::Next);
  log.add(9, row(kAlice, 9), Continuity::Broken);
  EXPECT_EQ(texts(log.collect(5)), Texts{kAlice + " 3 inactive 2 from 3"});
}

TEST(PendingHeads, gaps_are_given_with_their_frames_until_they_are_stored) {
  PendingHeads log;
  EXPECT_TRUE(log.collect_gaps(9).empty());
  log.add_gap(3, {kBob, atproto::Tid{33}});
  log.add_gap(7, {kAlice});
  log.add_gap(4, {kBob, atproto::Tid{44}});
  log.add_gap(5, {kAlice, atproto::Tid{55}});
  log.add_gap(8, {kCarol});
  EXPECT_TRUE(log.collect_gaps(3).empty());
  EXPECT_EQ(texts(log.collect_gaps(4)), Texts{kBob + " 33"});
  EXPECT_EQ(texts(log.collect_gaps(8)), (Texts{kAlice + " 55", kBob + " 44"}))
      << "nothing was stored";
  log.stored();
  EXPECT_EQ(texts(log.collect_gaps(8)), Texts{});
  EXPECT_EQ(texts(log.collect_gaps(9)), Texts{kCarol});
  EXPECT_EQ(newest(log, kBob), "") << "a gap says nothing of where a repository stands";
}

TEST(PendingHeads, sorts_by_did_though_tickets_come_in_any_order) {
  PendingHeads log;
  log.add(3, row(kCarol, 1), Continuity::Next);
  log.add(1, row(kAlice, 1), Continuity::Next);
  log.add(2, row(kBob, 1), Continuity::Next);
  log.add(4, row(kAlice, 2), Continuity::Next);
  EXPECT_EQ(texts(log.collect(10)), (Texts{kAlice + " 2 0", kBob + " 1 0", kCarol + " 1 0"}));
}

TEST(PendingHeads, a_failed_save_loses_nothing) {
  PendingHeads log;
  log.add(1, row(kBob, 1), Continuity::Broken);
  log.collect(2);
  // It was not stored.
  log.add(2, row(kAlice, 1), Continuity::Next);
  log.add(3, row(kBob, 2), Continuity::Broken);
  EXPECT_EQ(texts(log.collect(4)), (Texts{kAlice + " 1 0", kBob + " 2 2 from 2"}));
  EXPECT_EQ(texts(log.collect(4)), (Texts{kAlice + " 1 0", kBob + " 2 2 from 2"}));
  EXPECT_EQ(newest(log, kBob), kBob + " 2");
  log.stored();
  EXPECT_TRUE(log.collect(4).empty());
  EXPECT_EQ(newest(log, kBob), "");
}

TEST(PendingHeads, knows_the_newest_until_it_is_stored) {
  PendingHeads log;
  EXPECT_EQ(newest(log, kAlice), "");
  log.add(1, row(kAlice, 1), Continuity::Next);
  EXPECT_EQ(newest(log, kAlice), kAlice + " 1");
  EXPECT_EQ(newest(log, kBob), "");
  log.add(2, row(kAlice, 2), Continuity::Next);
  log.collect(3);
  EXPECT_EQ(newest(log, kAlice), kAlice + " 2") << "collected is not stored";
  log.stored();
  EXPECT_EQ(newest(log, kAlice), "");
}

TEST(PendingHeads, an_entry_behind_what_was_collected_stays_newest) {
  PendingHeads log;
  log.add(1, row(kAlice, 1), Continuity::Next);
  log.add(5, row(kAlice, 5), Continuity::Next);
  EXPECT_EQ(texts(log.collect(5)), Texts{kAlice + " 1 0"});
  log.stored();
  EXPECT_EQ(newest(log, kAlice), kAlice + " 5");
  log.add(6, row(kBob, 6), Continuity::Next);
  log.collect(7);
  log.add(7, row(kBob, 7), Continuity::Next);  // while what was collected is being saved
  log.stored();
  EXPECT_EQ(newest(log, kBob), kBob + " 7");
  EXPECT_EQ(newest(log, kAlice), "");
}

/// Adds, finishes and saves at random, with failed saves, and compares the heads with a simple
/// model: a list of all entries, and the rows of a database.
class ChainLogInterleaving : public testing::TestWithParam<unsigned> {};

TEST_P(ChainLogInterleaving, equals_the_naive_model) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  struct Entry {
    PendingHeads::Ticket ticket;
    RepositoryRow row;
    Continuity continuity;
  };
  const Texts dids = {kAlice, kBob, kCarol, "did:plc:dave"};
  PendingHeads log;
  std::vector<Entry> entries;
  std::map<std::string, PendingHeads::Ticket> next;  // of each DID, tickets grow
  std::map<std::string, RepositoryProgress> stored;
  PendingHeads::Ticket stored_end = 0;
  PendingHeads::Ticket end = 0;
  for (std::uint64_t step = 1; step <= 3'000; ++step) {
    const std::size_t kind = below(6);
    if (kind < 4) {
      const std::string& did = dids[below(dids.size())];
      const PendingHeads::Ticket ticket = std::max(end, next[did]) + below(8);
      next[did] = ticket + 1;
      entries.push_back({ticket, row(did, step, below(5) != 0), static_cast<Continuity>(below(4))});
      log.add(ticket, entries.back().row, entries.back().continuity);
    } else {
      end += below(10);
      const auto& collected = log.collect(end);
      ASSERT_TRUE(
          std::is_sorted(collected.begin(), collected.end(),
                         [](const auto& a, const auto& b) { return a.row.did < b.row.did; }));
      if (below(3) != 0) {
        for (const RepositoryProgress& one : collected) {
          RepositoryProgress& saved = stored[one.row.did];
          saved.row = one.row;
          saved.breaks += one.breaks;
          if (one.anchor) saved.anchor = one.anchor;
          if (one.born) saved.born = one.born;
        }
        log.stored();
        stored_end = end;
      }
    }
    for (const std::string& did : dids) {
      RepositoryProgress expected;
      std::string expected_newest;
      for (const Entry& entry : entries) {
        if (entry.row.did != did) continue;
        if (entry.ticket < stored_end) {
          expected.row = entry.row;
          expected.breaks += entry.continuity == Continuity::Broken ? 1 : 0;
          if (entry.continuity != Continuity::Next) expected.anchor = entry.row.head->rev;
          if (entry.continuity == Continuity::Born) expected.born = entry.row.head->rev;
        } else {
          expected_newest = text(entry.row);
        }
      }
      ASSERT_EQ(texts({stored[did]}), texts({expected})) << step;
      ASSERT_EQ(newest(log, did), expected_newest) << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, ChainLogInterleaving, testing::Range(1U, 9U));

TEST(PendingHeads, many_threads_add_what_one_stores) {
  constexpr std::uint64_t kEach = 5'000;
  constexpr std::size_t kThreads = 3;
  PendingHeads log;
  std::atomic<std::size_t> running = kThreads;
  std::int64_t breaks = 0;
  std::map<std::string, std::uint64_t> revs;
  const auto store = [&](PendingHeads::Ticket end) {
    for (const auto& one : log.collect(end)) {
      breaks += one.breaks;
      revs[one.row.did] = one.row.head->rev.value;
    }
    log.stored();
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const std::string did = "did:plc:" + std::to_string(thread);
        for (std::uint64_t i = 1; i <= kEach; ++i) {
          log.add(i * kThreads + thread, row(did, i), Continuity::Broken);
          if (const auto newest = log.newest(did)) {
            EXPECT_EQ(newest->did, did);
          }
        }
        --running;
      });
    }
    // Collects while the threads add. No ticket is below 0, so each call returns nothing.
    while (running > 0) store(0);
  }
  store((kEach + 1) * kThreads);
  EXPECT_EQ(breaks, static_cast<std::int64_t>(kEach * kThreads));
  ASSERT_EQ(revs.size(), kThreads);
  for (const auto& [did, rev] : revs) EXPECT_EQ(rev, kEach) << did;
}

}  // namespace
}  // namespace skua::pipeline::pending_heads_test
