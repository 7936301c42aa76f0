#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sources/tap/tap_source.hpp"

namespace skua::sources::ack_ledger_test {
namespace {

using Ticket = AckLedger::Ticket;
using Ids = std::vector<std::int64_t>;

/// Takes so many ids at a time, and remembers each call's.
struct Sender {
  std::size_t room = 1'000;
  std::vector<Ids> calls;

  AckLedger::Send function() {
    return [this](std::span<const std::int64_t> ids) {
      const auto taken = ids.first(std::min(room, ids.size()));
      calls.emplace_back(taken.begin(), taken.end());
      return taken.size();
    };
  }
};

void finish(AckLedger& ledger, const std::vector<Ticket>& tickets) {
  ledger.finished(tickets);
}

TEST(AckLedgerTest, what_becomes_durable_together_is_acknowledged_together) {
  Sender sender;
  AckLedger ledger(sender.function());
  for (Ticket ticket = 0; ticket < 5; ++ticket) {
    ledger.expect(ticket, 100 + static_cast<std::int64_t>(ticket));
  }
  EXPECT_TRUE(sender.calls.empty());
  finish(ledger, {3, 1});
  finish(ledger, {0});
  EXPECT_EQ(sender.calls, (std::vector<Ids>{{103, 101}, {100}}));
  EXPECT_EQ(ledger.metrics().unfinished, 2U);
  EXPECT_EQ(ledger.metrics().acknowledged, 3U);
}

TEST(AckLedgerTest, tickets_of_others_are_passed_over) {
  Sender sender;
  AckLedger ledger(sender.function());
  ledger.expect(7, 1);
  finish(ledger, {5, 6});
  EXPECT_TRUE(sender.calls.empty());
  finish(ledger, {6, 7, 8});
  finish(ledger, {7});
  EXPECT_EQ(sender.calls, (std::vector<Ids>{{1}}));
}

TEST(AckLedgerTest, what_is_not_taken_is_offered_again) {
  Sender sender;
  sender.room = 2;
  AckLedger ledger(sender.function());
  for (Ticket ticket = 0; ticket < 4; ++ticket) {
    ledger.expect(ticket, static_cast<std::int64_t>(ticket) + 1);
  }
  finish(ledger, {0, 1, 2});
  EXPECT_EQ(ledger.metrics().refused, 1U);
  finish(ledger, {3});
  EXPECT_EQ(sender.calls, (std::vector<Ids>{{1, 2}, {3, 4}}));
  EXPECT_EQ(ledger.metrics().acknowledged, 4U);
}

/// An id of a connection that ended may be another event's in the next.
TEST(AckLedgerTest, no_id_gets_into_the_next_connection) {
  Sender sender;
  sender.room = 0;
  AckLedger ledger(sender.function());
  ledger.expect(0, 1);
  ledger.expect(1, 2);
  finish(ledger, {0});
  ledger.connection_ended();
  sender.calls.clear();
  sender.room = 1'000;
  ledger.expect(2, 1);
  finish(ledger, {1});
  EXPECT_TRUE(sender.calls.empty());
  EXPECT_EQ(ledger.metrics().forgotten, 2U);
  finish(ledger, {2});
  EXPECT_EQ(sender.calls, (std::vector<Ids>{{1}}));
}

/// Workers finish while connections come and go. Each connection has ids of its own, so that a
/// stray one is seen: none is sent outside its connection, twice, or before it has finished.
TEST(AckLedgerTest, holds_under_many_threads) {
  constexpr int kConnections = 50;
  constexpr int kEach = 400;
  constexpr int kWorkers = 4;
  std::int64_t connection = 0;  // under the ledger's lock, or where nobody else is
  std::map<std::int64_t, int> sent;
  bool stray = false;
  AckLedger ledger([&](std::span<const std::int64_t> ids) {
    for (const std::int64_t id : ids) {
      stray = stray || id / 1'000 != connection;
      ++sent[id];
    }
    return ids.size();
  });
  Ticket next = 0;
  std::vector<std::thread> workers;
  for (int c = 0; c < kConnections; ++c) {
    std::vector<std::vector<Ticket>> shares(kWorkers);
    for (int i = 0; i < kEach; ++i, ++next) {
      ledger.expect(next, c * 1'000 + i);
      shares[next % kWorkers].push_back(next);
    }
    for (auto& share : shares) {
      workers.emplace_back([&ledger, share = std::move(share)] {
        for (std::size_t at = 0; at < share.size(); at += 7) {
          ledger.finished(
              std::span(share).subspan(at, std::min<std::size_t>(7, share.size() - at)));
        }
      });
    }
    // Every other connection ends in the middle of it, the rest when all is acknowledged.
    if (c % 2 == 0) {
      for (auto& worker : workers) worker.join();
      workers.clear();
    }
    ledger.connection_ended();
    ++connection;
  }
  for (auto& worker : workers) worker.join();
  EXPECT_FALSE(stray);
  for (const auto& [id, times] : sent) EXPECT_EQ(times, 1) << id;
  const auto metrics = ledger.metrics();
  EXPECT_EQ(metrics.acknowledged, sent.size());
  EXPECT_EQ(metrics.acknowledged + metrics.forgotten, std::size_t{kConnections} * kEach);
  EXPECT_GE(metrics.acknowledged, std::size_t{kConnections} / 2 * kEach);
}

}  // namespace
}  // namespace skua::sources::ack_ledger_test
