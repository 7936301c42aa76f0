#include "backfill/discovery/discoverer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/queue/job_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "transport/loopback_server.hpp"
#include "transport/sim_process.hpp"

namespace skua::backfill::discoverer_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::LoopbackServer;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHolder = "skua discoverer test";

std::string json_reply(const std::string& body) {
  return http_reply(200, body, "Content-Type: application/json\r\n");
}

std::string page_of(const std::string& dids, const std::string& cursor,
                    const std::string& rev = "") {
  std::string repos;
  for (const char name : dids) {
    repos += std::string(repos.empty() ? "" : ",") + R"({"did":"did:web:)" + name + R"(.test")" +
             (rev.empty() ? "" : R"(,"rev":")" + rev + '"') + "}";
  }
  std::string body = R"({"repos":[)" + repos + "]";
  if (!cursor.empty()) body += R"(,"cursor":")" + cursor + '"';
  return json_reply(body + "}");
}

class DiscovererTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
  void TearDown() override {
    end();
    EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
  }

  void begin(bool allow_private_hosts = true, std::optional<AuditOptions> audit = std::nullopt) {
    transport::HttpClientOptions http;
    http.allow_private_hosts = allow_private_hosts;
    http_ = std::make_unique<transport::HttpClient>(http);
    Discoverer::Options options{.lease_owner = kHolder,
                                .allow_private_hosts = allow_private_hosts,
                                .audit = std::move(audit),
                                .on_jobs = [this] { ++told_; }};
    discoverer_ = std::make_unique<Discoverer>(runtime_, std::move(options), *http_);
    discoverer_->start();
  }

  /// Stops the discoverer as Backfiller does.
  void end() {
    if (!discoverer_) return;
    discoverer_->request_stop();
    http_->stop();
    discoverer_->stop();
    discoverer_.reset();
  }

  static void wait_for(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "waited in vain";
      std::this_thread::yield();
    }
  }
  void wait_until_idle() {
    wait_for([&] { return discoverer_->is_idle(); });
  }

  void add(const std::vector<HostList>& lists) {
    add_lists(session(), lists, Again::Yes, clock_.now());
  }
  std::string list(const std::string& expression) {
    return value("SELECT string_agg(" + expression +
                 ", ' ' ORDER BY host, what) FROM skua.backfill_hosts");
  }
  std::string jobs(const std::string& expression) {
    return value("SELECT string_agg(" + expression + ", ' ' ORDER BY did) FROM skua.backfill_jobs");
  }

  test::ManualClock clock_;
  std::atomic<int> told_{0};
  std::unique_ptr<transport::HttpClient> http_;
  postgres::Runtime runtime_{database_.url(), clock_};
  std::unique_ptr<Discoverer> discoverer_;
};

/// A host that answers as the test requires, and keeps the requests in their order.
class ScriptedHost : public DiscovererTest {
 protected:
  using Answer = std::function<std::string(const std::string& query)>;

  void serve(Answer answer) {
    LoopbackServer::Options options;
    options.http = [this, answer = std::move(answer)](const LoopbackServer::HttpRequest& request) {
      const std::string target(request.target());
      const std::string query = target.substr(target.find('?') + 1);
      {
        const std::scoped_lock lock(mutex_);
        asked_.push_back(query);
      }
      return answer(query);
    };
    server_ = std::make_unique<LoopbackServer>(options);
  }
  void TearDown() override {
    DiscovererTest::TearDown();
    server_.reset();
  }

  std::string origin() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::unique_ptr<LoopbackServer> server_;
};

/// A page of a thousand unknown accounts, with a cursor for another page.
std::string endless_page(const std::string& query) {
  const auto place = query.find("cursor=");
  const int page = place == query.npos ? 0 : std::stoi(query.substr(place + 7));
  std::string repos;
  for (int i = 0; i < 1'000; ++i) {
    repos += fmt::format(R"({}{{"did":"did:web:a{}.test"}})", i == 0 ? "" : ",", page * 1'000 + i);
  }
  return json_reply(fmt::format(R"({{"repos":[{}],"cursor":"{}"}})", repos, page + 1));
}

TEST_F(ScriptedHost, a_list_without_end_is_abandoned_at_ten_times_what_was_announced) {
  serve(endless_page);
  add({{.host = origin(), .announced = 250}});
  begin();
  wait_until_idle();
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs"), "2500");
  EXPECT_EQ(asked().size(), 3U);
  EXPECT_EQ(list("state"), "failed");
  EXPECT_EQ(list("error"), origin() +
                               ": it names more than 2500 accounts, where 250 were "
                               "announced: the rest is left out");
  EXPECT_EQ(discoverer_->metrics().surplus, 500U);
}

TEST_F(ScriptedHost, who_goes_on_with_a_list_has_no_more_of_it_left) {
  serve(endless_page);
  add({{.host = origin(), .announced = 250}});
  session().run("UPDATE skua.backfill_hosts SET listed = 2000, cursor = '7', state = 'listing'");
  begin();
  wait_until_idle();
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs"), "500");
}

TEST_F(ScriptedHost, accounts_of_every_page_become_jobs_at_their_host) {
  serve([](const std::string& query) {
    return query == "limit=1000" ? page_of("ab", "2") : page_of("c", "");
  });
  add({{origin()}});
  begin();
  wait_until_idle();
  EXPECT_EQ(jobs("did"), "did:web:a.test did:web:b.test did:web:c.test");
  EXPECT_EQ(value("SELECT DISTINCT host FROM skua.backfill_jobs"), origin());
  EXPECT_EQ(list("state || listed"), "listed3");
  const DiscoveryMetrics metrics = discoverer_->metrics();
  EXPECT_EQ(metrics.pages, 2U);
  EXPECT_EQ(metrics.accounts, 3U);
  EXPECT_EQ(metrics.queued, 3U);
  EXPECT_EQ(told_, 2);
}

TEST_F(ScriptedHost, a_repository_that_is_stored_as_of_the_listed_revision_gets_no_job) {
  const std::string rev = "3laaaaaaaaa2a";
  const atproto::Tid listed = *atproto::Tid::parse(rev);
  serve([rev](const std::string&) { return page_of("abcdefg", "", rev); });
  const auto store_repository = [&](char name, const char* state, std::int64_t after) {
    session().run(
        fmt::format("INSERT INTO skua.repositories (did, rev, data, state, active, breaks) "
                    "VALUES ('did:web:{}.test', {}, '\\x00', '{}', true, 0)",
                    name, static_cast<std::int64_t>(listed.value) + after, state));
  };
  store_repository('a', "complete", 0);
  store_repository('b', "complete", 1);
  store_repository('c', "complete", -1);
  store_repository('d', "partial", 1);
  store_repository('e', "desynchronized", 1);
  session().run(
      "INSERT INTO skua.repositories (did, state, active, breaks) "
      "VALUES ('did:web:f.test', 'partial', true, 0)");
  add({{origin()}});
  begin();
  wait_until_idle();
  EXPECT_EQ(jobs("did"),
            "did:web:c.test did:web:d.test did:web:e.test did:web:f.test did:web:g.test");
  EXPECT_EQ(discoverer_->metrics().accounts, 7U);
  EXPECT_EQ(discoverer_->metrics().current, 2U);
  EXPECT_EQ(discoverer_->metrics().queued, 5U);
}

TEST_F(ScriptedHost, who_knows_a_collection_is_not_where_accounts_live) {
  serve([](const std::string&) { return page_of("a", ""); });
  add({{origin(), list_of_collection("app.test.thing")}});
  begin();
  wait_until_idle();
  EXPECT_THAT(asked(), ElementsAre("collection=app.test.thing&limit=2000"));
  EXPECT_EQ(jobs("did || (host IS NULL)"), "did:web:a.testtrue");
}

TEST_F(ScriptedHost, a_list_that_was_left_by_one_that_is_gone_goes_on_behind_its_last_page) {
  serve([](const std::string&) { return page_of("c", ""); });
  add({{origin()}});
  const JobLeaseRequest gone{"killed", clock_.now()};
  ASSERT_EQ(lease_lists(session(), 1, gone).size(), 1U);
  ASSERT_TRUE(save_page(session(), {origin()}, "2", 2, gone));
  begin();
  wait_until_idle();
  EXPECT_THAT(asked(), ElementsAre("limit=1000&cursor=2"));
  EXPECT_EQ(list("state || listed"), "listed3");
}

TEST_F(ScriptedHost, a_failure_waits_and_then_the_same_page_is_asked_for_again) {
  std::atomic<bool> broken{true};
  serve([&](const std::string& query) {
    if (query == "limit=1000") return page_of("a", "2");
    return broken ? http_reply(500, "") : page_of("b", "");
  });
  add({{origin()}});
  begin();
  wait_for([&] { return discoverer_->metrics().failed == 1; });
  EXPECT_FALSE(discoverer_->is_idle());
  EXPECT_THAT(list("error"), HasSubstr("500"));
  broken = false;
  clock_.advance(job_delay(1));
  wait_until_idle();
  EXPECT_THAT(asked(), ElementsAre("limit=1000", "limit=1000&cursor=2", "limit=1000&cursor=2"));
  EXPECT_EQ(jobs("did"), "did:web:a.test did:web:b.test");
}

TEST_F(ScriptedHost, a_host_that_asks_for_time_gets_it_and_that_is_no_failure) {
  std::atomic<bool> busy{true};
  serve([&](const std::string&) {
    return busy ? http_reply(429, "", "Retry-After: 77\r\n") : page_of("a", "");
  });
  add({{origin()}});
  begin();
  wait_for([&] { return discoverer_->metrics().postponed == 1; });
  EXPECT_EQ(value("SELECT attempts FROM skua.backfill_hosts"), "0");
  busy = false;
  clock_.advance(78s);
  wait_until_idle();
  EXPECT_EQ(discoverer_->metrics().failed, 0U);
  EXPECT_EQ(jobs("did"), "did:web:a.test");
}

TEST_F(ScriptedHost, hosts_that_are_there_become_lists) {
  serve([&](const std::string& query) {
    // The first request is for the list of hosts. The list of accounts is empty.
    if (query.find("limit=1000") == std::string::npos || asked().size() > 1) return page_of("", "");
    return json_reply(R"({"hosts":[{"hostname":"127.0.0.1:1","status":"banned"},)"
                      R"({"hostname":"127.0.0.1:2","status":"offline"},{"hostname":"no host"},)"
                      R"({"hostname":")" +
                      origin().substr(7) + R"(","status":"active"}]})");
  });
  add({{origin(), kListOfHosts}});
  begin();
  wait_until_idle();
  EXPECT_EQ(list("what || state"), "hostslisted reposlisted");
  EXPECT_EQ(discoverer_->metrics().hosts, 1U);
  EXPECT_EQ(discoverer_->metrics().refused, 1U);
}

TEST_F(ScriptedHost, loopback_is_for_whom_the_user_named) {
  serve([](const std::string&) { return page_of("a", ""); });
  add({{origin(), kListOfRepos, true}, {"http://localhost:1"}});
  begin(false);
  wait_for([&] { return discoverer_->metrics().failed == 1; });
  wait_for([&] { return value("SELECT count(*) FROM skua.backfill_jobs") == "1"; });
  EXPECT_EQ(value("SELECT state FROM skua.backfill_hosts WHERE is_operator_specified"), "listed");
  EXPECT_THAT(value("SELECT error FROM skua.backfill_hosts WHERE NOT is_operator_specified"),
              HasSubstr("--allow-private-hosts"));
}

TEST_F(ScriptedHost, a_stop_in_the_middle_gives_the_list_back_as_it_was) {
  std::atomic<bool> hold{true};
  serve([&](const std::string& query) {
    if (query == "limit=1000") return page_of("a", "2");
    while (hold) std::this_thread::yield();
    return page_of("b", "");
  });
  add({{origin()}});
  begin();
  wait_for([&] { return asked().size() == 2; });
  end();
  hold = false;
  EXPECT_EQ(list("state || listed || cursor || attempts || (lease_owner IS NULL)"),
            "listing120true");
  begin();
  wait_until_idle();
  EXPECT_EQ(asked().back(), "limit=1000&cursor=2");
  EXPECT_EQ(jobs("did"), "did:web:a.test did:web:b.test");
}

TEST_F(ScriptedHost, lists_that_come_later_are_read_too) {
  std::latch is_checked(1);
  serve([&](const std::string&) {
    is_checked.wait();
    return page_of("a", "");
  });
  begin();
  wait_until_idle();
  add({{origin()}});
  discoverer_->notify();
  EXPECT_FALSE(discoverer_->is_idle());
  is_checked.count_down();
  wait_until_idle();
  EXPECT_EQ(jobs("did"), "did:web:a.test");
}

class Audit : public ScriptedHost {
 protected:
  static constexpr const char* kRev = "3laaaaaaaaa2a";

  /// Stores a repository of the host, one revision older than in its list.
  void store_behind(const std::string& did) {
    session().run(fmt::format(
        "INSERT INTO skua.repositories (did, rev, data, state) VALUES ('{0}', {1}, '\\x00', "
        "'complete'); INSERT INTO skua.identities (did, fetched_at, pds) VALUES ('{0}', now(), "
        "'{2}')",
        did, atproto::Tid::parse(kRev)->value - 1, origin()));
  }
  AuditOptions options() const {
    return {.relay = origin(), .sources = {"relay:a"}, .page_interval = 0ms};
  }
  /// The next audit is due, and the stream was read long past what hosts list.
  void make_due() {
    session().run(
        "INSERT INTO skua.cursors (source, cursor, event_time, saved_at) "
        "VALUES ('relay:a', 1, now(), now())");
    begin_audit(session(), options(), clock_.now());
    clock_.advance(24h);
  }
  std::string hosts_reply(const std::string& more = "") {
    return json_reply(R"({"hosts":[{"hostname":")" + origin().substr(7) + R"("})" + more + "]}");
  }
};

TEST_F(Audit, has_the_repositories_downloaded_again_that_are_behind_and_no_others) {
  serve([this](const std::string&) {
    if (asked().size() == 1) return hosts_reply();
    return asked().size() == 2 ? page_of("ab", "2", kRev) : page_of("c", "", kRev);
  });
  store_behind("did:web:a.test");
  store_behind("did:web:c.test");
  make_due();
  begin(true, options());
  wait_for([&] { return discoverer_->metrics().behind == 2; });
  wait_until_idle();
  EXPECT_EQ(list("what || state"), "audit:hostslisted audit:reposlisted");
  EXPECT_EQ(value("SELECT string_agg(did, ' ' ORDER BY did) FROM skua.repositories "
                  "WHERE state = 'desynchronized'"),
            "did:web:a.test did:web:c.test");
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs"), "0");
  EXPECT_EQ(told_, 0);
}

TEST_F(Audit, a_host_that_fails_three_times_is_left_for_the_next_audit) {
  std::atomic<bool> broken{true};
  serve([&](const std::string&) {
    if (asked().size() == 1) return hosts_reply();
    if (broken) return http_reply(500, "");
    return asked().size() == 5 ? hosts_reply() : page_of("a", "", kRev);
  });
  store_behind("did:web:a.test");
  make_due();
  begin(true, options());
  for (std::uint64_t failures = 1; failures <= 3; ++failures) {
    wait_for([&] { return discoverer_->metrics().failed == failures; });
    clock_.advance(job_delay(static_cast<int>(failures)));
    discoverer_->notify();
  }
  wait_until_idle();
  EXPECT_EQ(list("what || state"), "audit:hostslisted audit:reposfailed");
  broken = false;
  clock_.advance(24h);
  discoverer_->notify();
  wait_for([&] { return discoverer_->metrics().behind == 1; });
}

TEST_F(Audit, pages_are_asked_for_one_at_a_time) {
  serve([this](const std::string&) {
    return asked().size() == 1 ? hosts_reply() : page_of("a", "", kRev);
  });
  make_due();
  AuditOptions slow = options();
  slow.page_interval = 1h;
  begin(true, slow);
  wait_for([&] { return list("what || state") == "audit:hostslisted audit:reposlisting"; });
  // The second page has its turn in an hour; a stop does not wait for it.
  end();
  EXPECT_EQ(asked().size(), 1U);
  EXPECT_EQ(list("what || (lease_owner IS NULL)"), "audit:hoststrue audit:repostrue");
}

TEST_F(DiscovererTest, a_whole_network_by_its_relay) {
  auto pattern = (std::filesystem::temp_directory_path() / "skua-discover-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder = pattern;
  test::SimProcess sim(SKUA_SIM, "", folder / "log",
                       {"--accounts", "1200", "--records", "2400", "--hosts", "3", "--rate",
                        "0.001", "--fault-rate", "429-bare=0.2", "--seed", "5"});
  add({{sim.ready().at("relay").get<std::string>(), kListOfHosts, true}});
  begin();
  // After a 429 without a time the discoverer waits half a minute.
  wait_for([&] {
    clock_.advance(1s);
    return discoverer_->is_idle();
  });
  EXPECT_EQ(list("state"), "listed listed listed listed");
  EXPECT_EQ(value("SELECT count(DISTINCT host) FROM skua.backfill_jobs"), "3");
  const std::uint64_t jobs = std::stoull(value("SELECT count(*) FROM skua.backfill_jobs"));
  EXPECT_EQ(jobs, discoverer_->metrics().queued);
  EXPECT_EQ(jobs + discoverer_->metrics().inactive, 1200U);

  // A second request for the network makes the discoverer read each list again once.
  const DiscoveryMetrics before = discoverer_->metrics();
  clock_.advance(1h);
  add({{sim.ready().at("relay").get<std::string>(), kListOfHosts, true}});
  discoverer_->notify();
  wait_for([&] {
    clock_.advance(1s);
    return discoverer_->is_idle();
  });
  EXPECT_EQ(discoverer_->metrics().accounts, 2 * before.accounts);
  EXPECT_EQ(discoverer_->metrics().hosts, 2 * before.hosts);
  EXPECT_EQ(discoverer_->metrics().queued, before.queued);
  sim.end();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace skua::backfill::discoverer_test
