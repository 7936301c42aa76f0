#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/account_events.hpp"
#include "integration/random_network.hpp"
#include "integration/table_contents.hpp"
#include "support/change_log.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "writer/handle_claims.hpp"

namespace skua::writer::event_order_test {
namespace {

using event::UnresolvedEvent;
using test::Chance;
using test::RandomNetwork;

using Stream = std::vector<const test::NetworkEvent*>;

/// A stream for each account.
std::vector<Stream> by_account(const RandomNetwork& network) {
  std::vector<Stream> streams;
  for (const auto& events : network.accounts()) {
    Stream& stream = streams.emplace_back();
    for (const test::NetworkEvent& event : events) stream.push_back(&event);
  }
  return streams;
}

/// A stream for each account and record type, as the workers of the record types have them.
std::vector<Stream> by_account_and_type(const RandomNetwork& network) {
  std::vector<Stream> streams;
  for (const auto& events : network.accounts()) {
    for (const records::RecordType type : records::kRecordTypes) {
      Stream& stream = streams.emplace_back();
      for (const test::NetworkEvent& event : events) {
        if (event.type == type) stream.push_back(&event);
      }
    }
  }
  return streams;
}

/// A database into which the events of a network are written in one order.
class Indexed : private test::EventWriter {
 public:
  explicit Indexed(const RandomNetwork& network) : network_(network) {}

  /// Writes the events of each stream in their order, in batches of any size. With
  /// `has_repetitions` a stream now and then continues at an earlier event, as after a restart. A
  /// label is not repeated: it may be from before a deletion of its account.
  void write_all(const std::vector<Stream>& streams, Chance chance, bool has_repetitions) {
    session_.run("SET client_min_messages = warning");
    test::add_projections(session_, 1 + static_cast<int>(chance.below(40)));
    std::vector<std::size_t> next(streams.size());
    std::vector<std::size_t> furthest(streams.size());
    for (;;) {
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < streams.size(); ++i) {
        if (next[i] < streams[i].size()) open.push_back(i);
      }
      if (open.empty()) break;
      std::vector<UnresolvedEvent> batch;
      for (std::size_t left = 1 + chance.below(chance.percent(20) ? 60 : 8); left > 0; --left) {
        const std::size_t chosen = open[chance.below(open.size())];
        // Some streams are far ahead of others.
        for (std::size_t n = chance.below(5); n > 0 && next[chosen] < streams[chosen].size(); --n) {
          const test::NetworkEvent& event = *streams[chosen][next[chosen]++];
          const bool is_repeated = next[chosen] <= furthest[chosen];
          furthest[chosen] = std::max(furthest[chosen], next[chosen]);
          if (!event.is_label || !is_repeated) batch.push_back(event.make());
        }
        if (has_repetitions && chance.percent(4)) {
          next[chosen] -= std::min(next[chosen], chance.below(20));
        }
      }
      if (batch.empty()) continue;
      write_to(session_, std::move(batch));
      clock_.advance(std::chrono::seconds(1));
      if (chance.percent(40)) test::fold_changes(session_, static_cast<int>(chance.below(8)));
    }
    look_handles_up();
  }

  /// What the order must not decide.
  std::set<std::string> contents() {
    EXPECT_EQ(test::projection_differences(session_), "");
    EXPECT_EQ(test::change_log_differences(session_), "");
    EXPECT_EQ(session_.run("SELECT FROM skua.dead_letter").size(), 0U);
    return test::table_contents(session_);
  }

 private:
  /// A claim without a look-up may be refused because another account claimed the handle before.
  /// The look-ups decide.
  void look_handles_up() {
    for (int round = 0; round < 50; ++round) {
      clock_.advance(std::chrono::hours(24));
      std::vector<CheckedHandle> checked;
      for (DueHandle& due : due_handles(session_, clock_.now(), 100)) {
        const bool is_valid = network_.is_owner(due.handle, due.did);
        checked.push_back({std::move(due), is_valid});
      }
      if (checked.empty()) return;
      write_checked_handles(session_, checked, clock_.now());
    }
    ADD_FAILURE() << "there are always handles to look up";
  }

  const RandomNetwork& network_;
  test::Database database_;
  postgres::Session session_{database_.url(), "skua test"};
};

/// The lines of one side only, the first 20 of them.
std::string differences(const std::set<std::string>& first, const std::set<std::string>& other) {
  std::vector<std::string> lines;
  std::set_difference(first.begin(), first.end(), other.begin(), other.end(),
                      std::back_inserter(lines));
  for (std::string& line : lines) line = "only in the first order: " + line;
  std::vector<std::string> more;
  std::set_difference(other.begin(), other.end(), first.begin(), first.end(),
                      std::back_inserter(more));
  for (const std::string& line : more) lines.push_back("only in this order: " + line);
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < 20; ++i) text += lines[i] + "\n";
  return text;
}

class EventOrder : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_P(EventOrder, any_order_that_keeps_each_accounts_own_gives_equal_tables_and_projections) {
  const RandomNetwork network(GetParam(), 5, 320);
  std::set<std::string> first;
  for (unsigned order = 0; order < 3; ++order) {
    SCOPED_TRACE(fmt::format("network {}, order {}", GetParam(), order));
    Indexed indexed(network);
    indexed.write_all(order == 2 ? by_account_and_type(network) : by_account(network),
                      Chance(GetParam() * 100 + order), order == 1);
    const std::set<std::string> contents = indexed.contents();
    if (order == 0) {
      first = contents;
      EXPECT_GT(first.size(), 100U);
    }
    EXPECT_EQ(differences(first, contents), "");
  }
}

/// The number of networks; more of them when SKUA_LONG=1.
unsigned networks() {
  const char* is_long = std::getenv("SKUA_LONG");
  return is_long != nullptr && std::string_view(is_long) == "1" ? 100 : 4;
}

INSTANTIATE_TEST_SUITE_P(Networks, EventOrder, testing::Range(0U, networks()));

}  // namespace
}  // namespace skua::writer::event_order_test
