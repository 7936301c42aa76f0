#include "backfill/repository/job_runner.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "atproto/signing.hpp"
#include "backfill/queue/job_table.hpp"
#include "documents/errc.hpp"
#include "support/postgres.hpp"
#include "transport/loopback_server.hpp"

namespace skua::backfill::job_runner_test {
namespace {

using namespace std::chrono_literals;
using test::LoopbackServer;
using RawSocket = boost::asio::ip::tcp::socket;

const std::string kHolder = "skua job runner test";
constexpr std::size_t kMega = std::size_t{1} << 20;

class JobRunnerTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
  void TearDown() override {
    if (!runner_) return;
    stop();
    runner_.reset();
    readers_.reset();
    http_.reset();
    server_.reset();
  }
  /// As Backfiller does.
  void stop() {
    runner_->request_stop();
    http_->stop();
    readers_->stop();
    runner_->stop();
  }

  void serve(LoopbackServer::RawScript script) {
    LoopbackServer::Options options;
    options.raw = std::move(script);
    server_ = std::make_unique<LoopbackServer>(std::move(options));
  }
  /// Without reader threads a downloaded repository is held until the end of the test.
  void begin(JobRunner::Options options = {}, std::uint64_t spooled_bytes = 16'384 * kMega,
             std::size_t reader_threads = 0) {
    transport::HttpClientOptions http;
    http.allow_private_hosts = true;
    http_ = std::make_unique<transport::HttpClient>(http);
    disk_ = std::make_unique<SpoolBudget>(spooled_bytes);
    readers_ = std::make_unique<ReaderThreads>(reader_threads);
    options.lease_owner = kHolder;
    runner_ = std::make_unique<JobRunner>(
        runtime_, std::move(options),
        JobServices{.find_account = find_account_,
                    .http = *http_,
                    .disk = *disk_,
                    .readers = *readers_,
                    .unfinished = unfinished_,
                    .counters = counters_,
                    .clock = system_clock(),
                    .jobs_clock = system_clock(),
                    .push_chunk = [](event::Chunk) { ADD_FAILURE() << "no CAR is intact"; }});
    runner_->start();
  }
  std::string host() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  void add(const std::vector<std::string>& dids) {
    std::vector<NewJob> jobs;
    for (const std::string& did : dids) {
      jobs.push_back({.did = did, .host = host()});
    }
    add_jobs(session(), jobs, Again::Yes, system_clock().now());
  }
  std::string jobs(const std::string& expression) {
    return value("SELECT string_agg(" + expression + ", ' ' ORDER BY did) FROM skua.backfill_jobs");
  }
  static void wait_for(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "waited in vain";
      std::this_thread::sleep_for(5ms);
    }
  }

  std::unique_ptr<LoopbackServer> server_;
  FindAccount find_account_;
  BackfillCounters counters_;
  std::unique_ptr<SpoolBudget> disk_;
  UnfinishedRepositories unfinished_{kMega};
  std::unique_ptr<transport::HttpClient> http_;
  std::unique_ptr<ReaderThreads> readers_;
  postgres::Runtime runtime_{database_.url(), system_clock(),
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  std::unique_ptr<JobRunner> runner_;
};

std::string head(RawSocket& socket) {
  boost::system::error_code ignored;
  std::string text;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(text), "\r\n\r\n", ignored);
  return text;
}

void say(RawSocket& socket, const std::string& text) {
  boost::system::error_code ignored;
  boost::asio::write(socket, boost::asio::buffer(text), ignored);
}

const std::string kCarOf =
    "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.ipld.car\r\nContent-Length: ";

TEST_F(JobRunnerTest, bytes_count_while_they_come_and_nothing_new_begins_beyond_them) {
  std::atomic<bool> go_on{false};
  std::atomic<int> asked{0};
  serve([&](RawSocket& socket) {
    const std::string request = head(socket);
    EXPECT_NE(request.find("Accept-Encoding: identity"), request.npos) << request;
    ++asked;
    say(socket, kCarOf + std::to_string(4 * kMega) + "\r\n\r\n" + std::string(3 * kMega, 'x'));
    while (!go_on) std::this_thread::sleep_for(5ms);
    say(socket, std::string(kMega, 'x'));
    head(socket);
  });
  add({"did:plc:a"});
  begin({.limits = {.host = {.at_first = 1}}, .held_bytes = 2 * kMega});
  wait_for([&] { return counters_.held_bytes >= 3 * kMega; });
  add({"did:plc:b"});
  runner_->notify();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(jobs("state"), "running queued");
  go_on = true;
  wait_for([&] { return readers_->queued() == 1; });
  EXPECT_EQ(counters_.held_bytes, 4 * kMega);
}

TEST_F(JobRunnerTest, a_repository_for_which_there_is_no_disk_waits_and_has_not_failed) {
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket, kCarOf + std::to_string(40 * kMega) + "\r\n\r\n");
    for (int i = 0; i < 40; ++i) say(socket, std::string(kMega, 'x'));
    head(socket);
  });
  add({"did:plc:a"});
  begin({}, 20 * kMega);
  wait_for(
      [&] { return jobs("state || attempts") == "queued0" && jobs("coalesce(error, '')") != ""; });
  EXPECT_NE(jobs("error").find("no room"), std::string::npos) << jobs("error");
  EXPECT_EQ(counters_.held_bytes, 0U);
}

TEST_F(JobRunnerTest, a_repository_beyond_two_gibibytes_is_not_begun) {
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket, kCarOf + std::to_string((std::size_t{2} << 30) + 1) + "\r\n\r\n");
    head(socket);
  });
  add({"did:plc:a"});
  begin();
  wait_for([&] { return jobs("coalesce(error, '')") != ""; });
  EXPECT_NE(jobs("error").find("--largest-repository"), std::string::npos) << jobs("error");
}

TEST_F(JobRunnerTest, a_job_that_a_stop_interrupts_is_queued_again_without_an_attempt) {
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket, kCarOf + "5\r\n\r\nbytes");
    head(socket);
  });
  add({"did:plc:a"});
  begin();
  wait_for([&] { return readers_->queued() == 1; });
  EXPECT_EQ(jobs("state || attempts"), "running1");
  EXPECT_EQ(counters_.in_hand, 1U);
  stop();
  EXPECT_EQ(jobs("state || attempts"), "queued0");
}

TEST_F(JobRunnerTest, a_car_that_cannot_be_used_is_a_failed_attempt) {
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket, kCarOf + "5\r\n\r\nbytes");
    head(socket);
  });
  add({"did:plc:a"});
  begin({}, 16'384 * kMega, 1);
  wait_for([&] { return counters_.failed == 1; });
  EXPECT_EQ(jobs("state || attempts"), "queued1");
  EXPECT_EQ(jobs("error").find("the CAR cannot be used: "), 0U) << jobs("error");
  wait_for([&] { return counters_.in_hand == 0; });
  EXPECT_EQ(counters_.held_bytes, 0U);
}

TEST_F(JobRunnerTest, a_file_that_cannot_be_read_is_not_tried_again) {
  add_jobs(session(), std::vector<NewJob>{{.did = "did:plc:a", .file = "/nowhere/a.car"}},
           Again::Yes, system_clock().now());
  begin();
  wait_for([&] { return counters_.abandoned == 1; });
  EXPECT_EQ(jobs("state || ' ' || error"),
            "failed /nowhere/a.car cannot be read: No such file or directory");
  wait_for([&] { return runner_->is_idle(); });
}

/// An account with this host.
documents::Account account_at(const std::string& pds) {
  const auto key = atproto::SigningKey::from_bytes(atproto::Curve::k256, {1});
  return {.key = key->public_key(), .pds = pds};
}

TEST_F(JobRunnerTest, a_job_goes_to_the_host_of_the_document) {
  std::atomic<int> requests{0};
  serve([&](RawSocket& socket) {
    head(socket);
    ++requests;
    say(socket, kCarOf + "5\r\n\r\nbytes");
    head(socket);
  });
  find_account_ = [this](const std::string&, bool,
                         const std::function<void(Result<documents::Account>)>& done) {
    done(account_at(host()));
  };
  // One has another host, and the host of the other is not known.
  add_jobs(session(),
           std::vector<NewJob>{{.did = "did:plc:a", .host = "https://former.test"},
                               {.did = "did:plc:b"}},
           Again::Yes, system_clock().now());
  begin();
  wait_for([&] { return readers_->queued() == 2; });
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(jobs("state || attempts"), "running1 running1");
  EXPECT_EQ(jobs("host"), host() + " " + host());
}

TEST_F(JobRunnerTest, a_refusal_counts_only_if_the_current_document_names_the_host) {
  int asked_fresh = 0;
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket,
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
        "Content-Length: 24\r\n\r\n{\"error\":\"RepoNotFound\"}");
    head(socket);
  });
  // On the runner's thread. The stored document of one account names the host that it has left. The
  // directory does not give the current document of another one.
  const std::string current = "http://127.0.0.1:1";
  bool has_new_document = false;
  find_account_ = [&, this](const std::string& did, bool fresh,
                            const std::function<void(Result<documents::Account>)>& done) {
    asked_fresh += fresh ? 1 : 0;
    if (did == "did:plc:c" && fresh) return done(make_error_code(documents::errc::server_failed));
    if (did != "did:plc:b") return done(account_at(host()));
    has_new_document = has_new_document || fresh;
    done(account_at(has_new_document ? current : host()));
  };
  add({"did:plc:a", "did:plc:b", "did:plc:c"});
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at, active, status, status_time) "
      "SELECT did, now(), false, 'deleted', now() FROM skua.backfill_jobs");
  begin();
  wait_for([&] { return counters_.unavailable == 1 && counters_.failed >= 2; });
  stop();
  EXPECT_EQ(jobs("state"), "unavailable queued queued");
  EXPECT_EQ(jobs("host"), host() + " " + current + " " + host());
  EXPECT_EQ(asked_fresh, 3);
  EXPECT_EQ(value("SELECT string_agg(did, ' ') FROM bsky.actors WHERE floor_rev > 0"), "did:plc:a");
}

TEST_F(JobRunnerTest, without_a_document_a_job_fails_and_frees_its_slot) {
  serve([](RawSocket& socket) { head(socket); });
  find_account_ = [](const std::string& did, bool,
                     const std::function<void(Result<documents::Account>)>& done) {
    done(did == "did:plc:a" ? make_error_code(documents::errc::did_not_found)
                            : make_error_code(documents::errc::server_failed));
  };
  add({"did:plc:a", "did:plc:b", "did:plc:c"});
  begin({.limits = {.host = {.at_first = 1}}});
  wait_for([&] { return counters_.unavailable == 1 && counters_.failed == 2; });
  EXPECT_EQ(jobs("state || attempts"), "unavailable1 queued1 queued1");
  EXPECT_EQ(jobs("left(error, 31)"),
            "the account's key cannot be had the account's key cannot be "
            "had the account's key cannot be had");
}

}  // namespace
}  // namespace skua::backfill::job_runner_test
