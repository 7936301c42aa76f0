#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accounts/network_accounts.hpp"
#include "atproto/signing.hpp"
#include "documents/errc.hpp"
#include "documents/identity_table.hpp"
#include "documents/plc_server.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/cursor_store.hpp"
#include "transport/errc.hpp"

namespace skua::accounts::find_account_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

/// A DID of its own for each number below 26.
std::string did_number(int number) {
  return "did:plc:" + std::string(24, static_cast<char>('a' + number));
}

using Answer = Result<documents::Account>;
using documents::errc;
using documents::IdentityRow;
using Freshness = AccountSource::Freshness;

/// Accounts of a directory on loopback.
class World {
 public:
  explicit World(NetworkAccountsOptions options = {}) : accounts(completed(options), clock) {}
  ~World() {
    plc.release();
    accounts.stop();
  }

  std::future<Answer> ask(const std::string& did, bool refresh = false) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    auto future = promise->get_future();
    accounts.identity_once(did, refresh ? Freshness::Recent : Freshness::Known,
                           [promise](const Answer& answer) { promise->set_value(answer); });
    return future;
  }

  Answer resolve(const std::string& did) { return ask(did).get(); }
  Answer refresh(const std::string& did) { return ask(did, true).get(); }

  test::PlcServer plc;
  test::ManualClock clock;

 private:
  NetworkAccountsOptions completed(NetworkAccountsOptions options) const {
    options.plc_url = plc.url();
    options.pace = &clock;
    return options;
  }

 public:
  NetworkAccounts accounts;
};

TEST(FindAccount, keeps_an_identity_for_a_day) {
  World world;
  const auto first = world.resolve(kDid);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->did, kDid);
  EXPECT_EQ(first->pds, "https://pds.example");
  EXPECT_EQ(first->handle, "alice.example");
  EXPECT_EQ(first->key->to_string(), test::k256_multikey());
  EXPECT_EQ(first->fetched_at, world.clock.now());
  world.clock.advance(24h - 1s);
  EXPECT_TRUE(world.resolve(kDid));
  EXPECT_EQ(world.plc.count(), 1U);
  world.clock.advance(1s);
  EXPECT_EQ(world.resolve(kDid)->fetched_at, world.clock.now());
  EXPECT_EQ(world.plc.count(), 2U);
  EXPECT_EQ(world.accounts.statistics().from_memory, 1U);
  EXPECT_EQ(world.accounts.statistics().fetched, 2U);
}

TEST(FindAccount, fetches_again_when_the_clock_was_set_back) {
  World world;
  EXPECT_TRUE(world.resolve(kDid));
  world.clock.advance(-1h);
  EXPECT_EQ(world.refresh(kDid)->fetched_at, world.clock.now());
  EXPECT_EQ(world.plc.count(), 2U);
}

TEST(FindAccount, refreshes_once_a_failure) {
  World world;
  EXPECT_TRUE(world.resolve(kDid));
  EXPECT_TRUE(world.refresh(kDid));
  EXPECT_EQ(world.plc.count(), 1U);  // it came this moment
  world.clock.advance(1min);
  auto changed = test::made_document(kDid);
  changed["verificationMethod"][0]["publicKeyMultibase"] = test::p256_multikey();
  world.plc.reply_with(kDid, http_reply(200, changed.dump()));
  EXPECT_EQ(world.refresh(kDid)->key->to_string(), test::p256_multikey());
  EXPECT_TRUE(world.refresh(kDid));
  EXPECT_EQ(world.plc.count(), 2U);
  EXPECT_EQ(world.resolve(kDid)->key->to_string(), test::p256_multikey());
}

TEST(FindAccount, asks_once_for_all_who_wait) {
  World world;
  world.plc.hold();
  std::vector<std::future<Answer>> answers;
  answers.push_back(world.ask(kDid));
  world.plc.wait_for_requests(1);
  for (int i = 0; i < 20; ++i) answers.push_back(world.ask(kDid, i % 2 == 0));
  // Behind them in the same queue: when it is asked, they have been seen.
  auto other = world.ask(did_number(0));
  world.plc.wait_for_requests(2);
  world.plc.release();
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  EXPECT_TRUE(other.get());
  EXPECT_EQ(world.plc.count(), 2U);
}

TEST(FindAccount, remembers_that_the_data_failed) {
  World world;
  world.plc.reply_with(kDid, http_reply(404, "{}"));
  EXPECT_EQ(world.resolve(kDid).error(), errc::did_not_found);
  EXPECT_EQ(world.resolve(kDid).error(), errc::did_not_found);
  EXPECT_EQ(world.refresh(kDid).error(), errc::did_not_found);
  EXPECT_EQ(world.plc.count(), 1U);
  world.clock.advance(5min);
  world.plc.reply_with(kDid, "");
  EXPECT_TRUE(world.resolve(kDid));
  EXPECT_EQ(world.accounts.statistics().data_failures, 1U);
}

TEST(FindAccount, uses_what_it_knows_while_the_server_fails) {
  World world;
  const auto known = world.resolve(kDid).value();
  world.clock.advance(25h);
  world.plc.reply_with(kDid, http_reply(502, "bad gateway"));
  EXPECT_EQ(world.resolve(kDid).value(), known);
  EXPECT_EQ(world.resolve(kDid).value(), known);
  // A question for a newer document gets the failure.
  EXPECT_EQ(world.refresh(kDid).error(), errc::server_failed);
  EXPECT_EQ(world.plc.count(), 2U);
  world.clock.advance(30s);
  world.plc.reply_with(kDid, "");
  EXPECT_EQ(world.resolve(kDid)->fetched_at, world.clock.now());
  EXPECT_EQ(world.accounts.statistics().server_failures, 1U);
}

TEST(FindAccount, forgets_what_the_directory_took_back) {
  World world;
  EXPECT_TRUE(world.resolve(kDid));
  world.clock.advance(25h);
  world.plc.reply_with(kDid, http_reply(410, "{}"));
  EXPECT_EQ(world.resolve(kDid).error(), errc::did_tombstoned);
  world.plc.reply_with(kDid, http_reply(503, ""));
  world.clock.advance(5min);
  EXPECT_EQ(world.resolve(kDid).error(), errc::server_failed);
}

TEST(FindAccount, refuses_what_is_no_did_of_ours) {
  World world;
  EXPECT_EQ(world.resolve("nobody").error(), errc::did_syntax);
  EXPECT_EQ(world.resolve("did:key:zabc").error(), errc::did_method);
  EXPECT_EQ(world.resolve("did:web:127.0.0.1").error(), errc::did_method);
  EXPECT_EQ(world.resolve("did:web:localhost").error(), transport::errc::address_not_public);
  EXPECT_EQ(world.plc.count(), 0U);
}

TEST(FindAccount, waits_when_the_directory_asks_it_to) {
  World world;
  world.plc.reply_with(kDid, http_reply(429, "", "Retry-After: 7\r\n"));
  auto limited = world.ask(kDid);
  world.plc.wait_for_requests(1);
  // The second question must come after the answer 429, so that it waits, too.
  while (world.accounts.statistics().waits == 0) std::this_thread::yield();
  world.plc.reply_with(kDid, "");
  auto other = world.ask(did_number(0));
  world.clock.advance(6s);
  while (world.accounts.statistics().waiting != 2) std::this_thread::yield();
  EXPECT_EQ(world.plc.count(), 1U);
  world.clock.advance(1s);
  EXPECT_TRUE(limited.get());
  EXPECT_TRUE(other.get());
  EXPECT_EQ(world.plc.count(), 3U);
  EXPECT_EQ(world.accounts.statistics().server_failures, 0U);
}

TEST(FindAccount, bounds_requests_at_once_and_waiting) {
  NetworkAccountsOptions options;
  options.directory.active_at_most = 3;
  options.max_waiting = 10;
  World world(options);
  world.plc.hold();
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(world.ask(did_number(i)));
  EXPECT_EQ(world.resolve(did_number(10)).error(), errc::busy);
  EXPECT_EQ(world.resolve(did_number(9)).error(),
            errc::busy);  // one that waits already counts, too
  world.plc.wait_for_requests(3);
  EXPECT_EQ(world.plc.count(), 3U);
  world.plc.release();
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  EXPECT_EQ(world.plc.most_at_once(), 3U);
  EXPECT_TRUE(world.resolve(did_number(10)));
}

TEST(FindAccount, spends_nothing_on_what_cannot_be_asked) {
  NetworkAccountsOptions options;
  options.directory.at_most = 1;
  options.max_waiting = 2;
  World world(options);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(world.resolve("did:key:z" + std::to_string(i)).error(), errc::did_method);
    EXPECT_EQ(world.resolve(std::string(10'000, 'x')).error(), errc::did_syntax);
  }
  EXPECT_TRUE(world.resolve(kDid));
  EXPECT_EQ(world.accounts.statistics().data_failures, 20U);
}

TEST(FindAccount, slow_hosts_hold_up_no_directory) {
  NetworkAccountsOptions options;
  options.directory.at_most = 3;
  options.web_at_once = 2;
  options.web_per_second = 3;
  std::promise<void> open;
  options.connect_timeout = 10min;
  options.total_timeout = 10min;
  options.lookup = [opened = open.get_future().share()](const std::string&) {
    opened.wait();
    return Result<std::vector<std::string>>(transport::errc::host_not_found);
  };
  World world(options);
  std::vector<std::future<Answer>> slow;
  for (int i = 0; i < 6; ++i)
    slow.push_back(world.ask("did:web:slow" + std::to_string(i) + ".test"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world.resolve(did_number(i)));
  for (auto& each : slow) EXPECT_NE(each.wait_for(0s), std::future_status::ready);
  // Nor do they wait when the directory wants rest.
  world.clock.advance(1s);
  world.plc.reply_with(kDid, http_reply(429, "", "Retry-After: 100\r\n"));
  auto limited = world.ask(kDid);
  while (world.accounts.statistics().waits == 0) std::this_thread::yield();
  open.set_value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(slow[static_cast<std::size_t>(i)].get().error(), transport::errc::host_not_found);
  }
  world.clock.advance(2s);
  for (int i = 3; i < 6; ++i) {
    EXPECT_EQ(slow[static_cast<std::size_t>(i)].get().error(), transport::errc::host_not_found);
  }
  EXPECT_NE(limited.wait_for(0s), std::future_status::ready);
}

TEST(FindAccount, a_slow_site_holds_up_no_other) {
  NetworkAccountsOptions options;
  options.web_at_once = 4;
  options.web_at_once_of_one_site = 2;
  std::promise<void> open;
  options.connect_timeout = 10min;
  options.total_timeout = 10min;
  options.lookup = [opened = open.get_future().share()](const std::string& host) {
    if (host.ends_with("slow.test")) opened.wait();
    return Result<std::vector<std::string>>(transport::errc::host_not_found);
  };
  World world(options);
  std::vector<std::future<Answer>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(world.ask("did:web:host" + std::to_string(i) + ".slow.test"));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(world.resolve("did:web:quick" + std::to_string(i) + ".test").error(),
              transport::errc::host_not_found);
  }
  for (auto& each : slow) EXPECT_NE(each.wait_for(0s), std::future_status::ready);
  open.set_value();
  world.clock.advance(1h);
  for (auto& each : slow) EXPECT_EQ(each.get().error(), transport::errc::host_not_found);
}

TEST(FindAccount, asks_a_directory_that_fails_less_often) {
  NetworkAccountsOptions options;
  options.directory.at_first = 4;
  options.directory.at_least = 1;
  World world(options);
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 10; ++i) world.plc.reply_with(did_number(i), http_reply(503, "down"));
  for (int i = 0; i < 10; ++i) answers.push_back(world.ask(did_number(i)));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(answers[i].get().error(), errc::server_failed);
  // One a second is left of four.
  for (std::size_t second = 1; second <= 6; ++second) {
    while (world.accounts.statistics().waiting != 7 - second) std::this_thread::yield();
    EXPECT_EQ(world.plc.count(), 3 + second);
    world.clock.advance(1s);
  }
  for (std::size_t i = 4; i < 10; ++i) EXPECT_EQ(answers[i].get().error(), errc::server_failed);
}

TEST(FindAccount, keeps_the_limit_that_the_directory_states) {
  World world;
  const std::string headers =
      "RateLimit-Limit: 100\r\nRateLimit-Remaining: 2\r\nRateLimit-Reset: 60\r\n";
  world.plc.reply_with(kDid, http_reply(200, test::made_document(kDid).dump(), headers));
  EXPECT_TRUE(world.resolve(kDid));
  // Two requests remain for a minute, so one starts each 20 seconds.
  auto second = world.ask(did_number(0));
  auto third = world.ask(did_number(1));
  while (world.accounts.statistics().waiting != 2) std::this_thread::yield();
  EXPECT_EQ(world.plc.count(), 1U);
  world.clock.advance(20s);
  EXPECT_TRUE(second.get());
  while (world.accounts.statistics().waiting != 1) std::this_thread::yield();
  EXPECT_EQ(world.plc.count(), 2U);
  world.clock.advance(20s);
  EXPECT_TRUE(third.get());
}

TEST(FindAccount, keeps_to_its_rate) {
  NetworkAccountsOptions options;
  options.directory.at_most = 2;
  World world(options);
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(world.ask(did_number(i)));
  EXPECT_TRUE(answers[0].get());
  EXPECT_TRUE(answers[1].get());
  while (world.accounts.statistics().waiting != 3) std::this_thread::yield();
  EXPECT_EQ(world.plc.count(), 2U);
  world.clock.advance(500ms);
  EXPECT_TRUE(answers[2].get());
  EXPECT_EQ(world.plc.count(), 3U);
  world.clock.advance(1s);
  EXPECT_TRUE(answers[3].get());
  EXPECT_TRUE(answers[4].get());
}

TEST(FindAccount, answers_everybody_when_it_stops) {
  World world;
  world.plc.hold();
  auto under_way = world.ask(kDid);
  world.plc.wait_for_requests(1);
  world.accounts.stop();
  EXPECT_EQ(under_way.get().error(), errc::stopped);
  EXPECT_EQ(world.resolve(kDid).error(), errc::stopped);
}

TEST(FindAccount, counts_the_failures_since_the_last_answer_of_the_directory) {
  NetworkAccountsOptions options;
  options.lookup = [](const std::string&) {
    return Result<std::vector<std::string>>(transport::errc::host_not_found);
  };
  World world(options);
  const auto ask = [&](int number, const std::string& reply) {
    world.plc.reply_with(did_number(number), reply);
    world.clock.advance(10s);
    (void)world.resolve(did_number(number));
    return world.accounts.directory_failures().count;
  };
  EXPECT_EQ(ask(0, http_reply(500, "")), 1U);
  EXPECT_EQ(ask(1, http_reply(503, "")), 2U);
  EXPECT_GT(world.accounts.directory_failures().latest, std::chrono::steady_clock::time_point());
  world.plc.reply_with(kDid, http_reply(429, ""));
  auto limited = world.ask(kDid);
  while (world.accounts.statistics().waits == 0) {
    world.clock.advance(1s);
    std::this_thread::yield();
  }
  EXPECT_EQ(world.accounts.directory_failures().count, 2U) << "it answers, but not to us";
  world.plc.reply_with(kDid, http_reply(404, ""));
  while (limited.wait_for(1ms) != std::future_status::ready) world.clock.advance(1s);
  EXPECT_EQ(world.accounts.directory_failures().count, 0U);
  EXPECT_EQ(ask(2, http_reply(500, "")), 1U);
  EXPECT_FALSE(world.resolve("did:web:one.test"));
  EXPECT_EQ(world.accounts.directory_failures().count, 1U) << "a host is not the directory";
}

/// Fails from the moment it is told to.
class BrokenClock final : public Clock {
 public:
  Timestamp now() const override {
    if (is_broken_) throw std::logic_error("the clock is broken");
    return clock_.now();
  }
  void is_broken_now() { is_broken_ = true; }

 private:
  test::ManualClock clock_;
  std::atomic<bool> is_broken_{false};
};

TEST(FindAccountFatalError, is_reported_once_and_nobody_waits_for_a_thread_that_is_gone) {
  test::PlcServer plc;
  BrokenClock clock;
  std::promise<std::string> error;
  NetworkAccountsOptions options;
  options.plc_url = plc.url();
  options.on_fatal = [&](const std::string& what) { error.set_value(what); };
  NetworkAccounts accounts(options, clock);
  clock.is_broken_now();
  accounts.identity_once(kDid, Freshness::Known, [](const auto&) {});
  EXPECT_THAT(error.get_future().get(), testing::HasSubstr("the clock is broken"));
  std::promise<ErrorCode> refused;
  accounts.identity_once(kDid, Freshness::Known,
                         [&](const auto& answer) { refused.set_value(answer.error()); });
  EXPECT_EQ(refused.get_future().get(), errc::stopped);
}

class FindAccountTable : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  NetworkAccountsOptions options() {
    NetworkAccountsOptions options;
    options.database_url = database_.url();
    return options;
  }
};

TEST_F(FindAccountTable, outlives_the_process) {
  {
    World world(options());
    EXPECT_TRUE(world.resolve(kDid));
    EXPECT_TRUE(world.resolve(did_number(1)));
  }
  EXPECT_EQ(value("SELECT count(*) FROM skua.identities"), "2");
  EXPECT_EQ(value("SELECT signing_key FROM skua.identities WHERE did = '" + kDid + "'"),
            test::k256_multikey());
  World again(options());
  const auto identity = again.resolve(kDid);
  ASSERT_TRUE(identity) << identity.error().message();
  EXPECT_EQ(identity->pds, "https://pds.example");
  EXPECT_EQ(identity->handle, "alice.example");
  EXPECT_EQ(identity->fetched_at, again.clock.now());
  EXPECT_EQ(again.plc.count(), 0U);
  EXPECT_EQ(again.accounts.statistics().from_table, 1U);
  EXPECT_TRUE(again.resolve(kDid));
  EXPECT_EQ(again.accounts.statistics().from_memory, 1U);
}

TEST_F(FindAccountTable, is_stale_there_too) {
  {
    World world(options());
    EXPECT_TRUE(world.resolve(kDid));
  }
  World again(options());
  again.clock.advance(25h);
  again.plc.reply_with(kDid, http_reply(500, ""));
  EXPECT_EQ(again.resolve(kDid)->fetched_at, again.clock.now() - 25h);
  EXPECT_EQ(again.plc.count(), 1U);
}

TEST_F(FindAccountTable, does_not_come_back_once_it_is_gone) {
  {
    World world(options());
    EXPECT_TRUE(world.resolve(kDid));
    world.clock.advance(1h);
    world.plc.reply_with(kDid, http_reply(410, ""));
    EXPECT_EQ(world.refresh(kDid).error(), errc::did_tombstoned);
  }
  World again(options());
  again.clock.advance(2h);
  again.plc.reply_with(kDid, http_reply(404, ""));
  EXPECT_EQ(again.resolve(kDid).error(), errc::did_not_found);
}

TEST_F(FindAccountTable, is_done_without_while_it_is_away) {
  auto away = options();
  away.database_url = "postgresql://127.0.0.1:1/nowhere";
  World world(away);
  EXPECT_TRUE(world.resolve(kDid));
  EXPECT_TRUE(world.resolve(did_number(1)));
  EXPECT_EQ(world.plc.count(), 2U);
}

TEST_F(FindAccountTable, keeps_a_labeler_without_a_repository) {
  auto document = test::made_document(kDid);
  document["verificationMethod"][0]["id"] = "#atproto_label";
  document.erase("service");
  {
    World world(options());
    world.plc.reply_with(kDid, http_reply(200, document.dump()));
    ASSERT_TRUE(world.resolve(kDid));
  }
  World world(options());
  const auto account = world.resolve(kDid);
  ASSERT_TRUE(account);
  EXPECT_EQ(account->key, std::nullopt);
  EXPECT_EQ(account->pds, "");
  EXPECT_EQ(account->label_key->to_string(), test::k256_multikey());
  EXPECT_EQ(world.plc.count(), 0U) << "it is stored";
}

TEST_F(FindAccountTable, takes_what_another_part_has_written) {
  World world(options());
  EXPECT_EQ(world.resolve(kDid)->key->to_string(), test::k256_multikey());
  world.plc.reply_with(did_number(0), http_reply(404, "{}"));
  EXPECT_EQ(world.resolve(did_number(0)).error(), errc::did_not_found);
  EXPECT_EQ(world.plc.count(), 2U);
  world.clock.advance(1s);
  std::vector<IdentityRow> rows;
  for (const auto& did : {kDid, did_number(0)}) {
    rows.push_back({did, test::p256_multikey(), "https://pds.example", "a.example",
                    world.clock.now(), world.clock.now()});
  }
  documents::import_identities(session(), rows);
  world.accounts.table_changed({kDid, did_number(0)});
  EXPECT_EQ(world.resolve(kDid)->key->to_string(), test::p256_multikey());
  EXPECT_EQ(world.resolve(did_number(0))->key->to_string(), test::p256_multikey());
  EXPECT_EQ(world.plc.count(), 2U);
}

TEST_F(FindAccountTable, a_row_whose_key_is_no_point_of_its_curve_is_fetched_again) {
  Bytes bytes(35, 0xff);  // beyond the field's prime
  bytes[0] = 0xe7;
  bytes[1] = 0x01;
  bytes[2] = 0x02;
  World world(options());
  documents::save_identities(session(), {{kDid, "z" + atproto::encode_base58(bytes),
                                          "https://pds.example", "a.example", world.clock.now()}});
  EXPECT_EQ(world.resolve(kDid)->key->to_string(), test::k256_multikey());
  EXPECT_EQ(world.plc.count(), 1U);
}

/// An account that was stored two days ago, in a table that follows the export of the directory.
struct Covered {
  const char* name;
  /// The part of the export, in hours before now. No `since`: from the beginning.
  std::optional<std::chrono::hours> since;
  std::chrono::hours until;
  bool is_refresh;
  std::size_t requests;
};

class FindAccountCovered : public FindAccountTable, public testing::WithParamInterface<Covered> {};

TEST_P(FindAccountCovered, old_rows_that_are_current_are_not_fetched_again) {
  const Covered& with = GetParam();
  World world(options());
  world.clock.advance(1000h);
  const Timestamp now = world.clock.now();
  documents::save_identities(
      session(), {{kDid, test::k256_multikey(), "https://pds.example", "a.example", now - 48h}});
  tables::PlcCursor cursor{.newest = now - with.until, .current_at = now - with.until};
  if (with.since) cursor.since = now - *with.since;
  tables::begin_plc_cursor(session(), cursor);
  // The second time it is in memory.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(with.is_refresh ? world.refresh(kDid) : world.resolve(kDid));
    EXPECT_EQ(world.plc.count(), with.requests);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FindAccountCovered,
                         testing::Values(Covered{"since_ever", std::nullopt, 0h, false, 0},
                                         Covered{"since_before", 48h, 23h, false, 0},
                                         Covered{"written_before", 47h, 0h, false, 1},
                                         Covered{"no_longer", std::nullopt, 24h, false, 1},
                                         Covered{"refreshed", std::nullopt, 0h, true, 1}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace skua::accounts::find_account_test
