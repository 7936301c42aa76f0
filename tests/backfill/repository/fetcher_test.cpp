#include "backfill/repository/fetcher.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "base/guarded.hpp"
#include "support/postgres.hpp"
#include "transport/loopback_server.hpp"

namespace skua::backfill::fetcher_test {
namespace {

using namespace std::chrono_literals;
using test::LoopbackServer;
using RawSocket = boost::asio::ip::tcp::socket;

const std::string kHolder = "skua fetcher test";
constexpr std::size_t kMega = std::size_t{1} << 20;

class FetcherTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
  void TearDown() override {
    if (!fetcher_) return;
    fetcher_->request_stop();
    http_->stop();
    fetcher_->stop();
    kept_.with([](auto& kept) { kept.clear(); });
    fetcher_.reset();
    http_.reset();
    server_.reset();
  }

  void serve(LoopbackServer::RawScript script) {
    LoopbackServer::Options options;
    options.raw = std::move(script);
    server_ = std::make_unique<LoopbackServer>(std::move(options));
  }
  void begin(Fetcher::Options options = {}) {
    transport::HttpClientOptions http;
    http.allow_private_hosts = true;
    http_ = std::make_unique<transport::HttpClient>(http);
    options.database_url = database_.url();
    options.holder = kHolder;
    options.sink = [this](FetchedRepository fetched) {
      kept_.with([&](auto& kept) { kept.push_back(std::move(fetched)); });
    };
    options.on_defect = [](const std::string& what) { ADD_FAILURE() << what; };
    fetcher_ = std::make_unique<Fetcher>(std::move(options), *http_, system_clock());
    fetcher_->start();
  }
  void add(const std::vector<std::string>& dids) {
    std::vector<NewJob> jobs;
    for (const std::string& did : dids) {
      jobs.push_back({.did = did, .host = "http://127.0.0.1:" + std::to_string(server_->port())});
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
  Guarded<std::vector<FetchedRepository>> kept_;
  std::unique_ptr<transport::HttpClient> http_;
  std::unique_ptr<Fetcher> fetcher_;
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

TEST_F(FetcherTest, bytes_count_while_they_come_and_nothing_new_begins_beyond_them) {
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
  wait_for([&] { return fetcher_->counters().held_bytes >= 3 * kMega; });
  add({"did:plc:b"});
  fetcher_->notify();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(jobs("state"), "running queued");
  go_on = true;
  wait_for([&] { return kept_.with([](auto& kept) { return kept.size(); }) == 1; });
  EXPECT_EQ(fetcher_->counters().held_bytes, 4 * kMega);
}

TEST_F(FetcherTest, a_repository_for_which_there_is_no_disk_waits_and_has_not_failed) {
  serve([&](RawSocket& socket) {
    head(socket);
    say(socket, kCarOf + std::to_string(40 * kMega) + "\r\n\r\n");
    for (int i = 0; i < 40; ++i) say(socket, std::string(kMega, 'x'));
    head(socket);
  });
  add({"did:plc:a"});
  begin({.spooled_bytes = 20 * kMega});
  wait_for(
      [&] { return jobs("state || attempts") == "queued0" && jobs("coalesce(error, '')") != ""; });
  EXPECT_NE(jobs("error").find("no room"), std::string::npos) << jobs("error");
  EXPECT_EQ(fetcher_->counters().held_bytes, 0U);
}

TEST_F(FetcherTest, a_repository_beyond_two_gibibytes_is_not_begun) {
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

}  // namespace
}  // namespace skua::backfill::fetcher_test
