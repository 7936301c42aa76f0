#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "transport/errc.hpp"
#include "transport/http_client.hpp"
#include "transport/http_loopback.hpp"
#include "transport/loopback_server.hpp"

namespace skua::transport::http_reuse_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::keeping_server;
using test::kept_reply;
using test::kLong;
using test::LoopbackServer;
using test::private_allowed;
using test::raw_server;
using test::request;
using test::url_of;
using RawSocket = boost::asio::ip::tcp::socket;

/// The body, or what went wrong.
std::string told(HttpClient& client, const std::string& url,
                 HostOrigin origin = HostOrigin::network) {
  auto asked = request(url);
  asked.origin = origin;
  const auto answer = client.send(asked);
  return answer ? answer->body : answer.error().message();
}

std::string words(errc error) {
  return make_error_code(error).message();
}

/// Reads the head of one request; false: the client has ended the connection.
bool hear(RawSocket& socket) {
  std::string request;
  boost::system::error_code error;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n", error);
  return !error;
}

void say(RawSocket& socket, const std::string& bytes) {
  boost::system::error_code ignored;
  boost::asio::write(socket, boost::asio::buffer(bytes), ignored);
}

/// Ends the server's half; a client that is done with the connection may have reset it before.
void say_no_more(RawSocket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(RawSocket::shutdown_send, ignored);
}

TEST(HttpReuse, asks_again_on_the_connection_and_looks_the_name_up_once) {
  const auto server =
      keeping_server([](const auto& asked) { return kept_reply(std::string(asked.target())); });
  std::atomic<int> lookups = 0;
  auto options = private_allowed();
  options.lookup = [&](const std::string& host) {
    ++lookups;
    return test::loopback_lookup(host);
  };
  HttpClient client(options);
  for (const std::string path : {"/1", "/2", "/3"}) {
    EXPECT_EQ(told(client, url_of(*server, "pds.example") + path), path);
  }
  EXPECT_EQ(server->connections(), 1);
  EXPECT_EQ(lookups, 1);
  // The same server, but who knows: another name.
  EXPECT_EQ(told(client, url_of(*server, "other.example") + "/4"), "/4");
  EXPECT_EQ(server->connections(), 2);
}

TEST(HttpReuse, follows_a_redirect_on_the_same_connection) {
  const auto server = keeping_server([](const auto& asked) {
    if (asked.target() == "/end") return kept_reply("end");
    return "HTTP/1.1 302 Found\r\nContent-Length: 4\r\nLocation: /end\r\n\r\nthis" + std::string();
  });
  HttpClient client(private_allowed());
  EXPECT_EQ(told(client, url_of(*server) + "/start"), "end");
  EXPECT_EQ(server->connections(), 1);
}

struct Ending {
  std::string name;
  std::string answer;
};

class HttpReuseNot : public ::testing::TestWithParam<Ending> {};

TEST_P(HttpReuseNot, where_the_answer_does_not_allow_it) {
  const auto server = raw_server([](RawSocket& socket) {
    if (!hear(socket)) return;
    say(socket, GetParam().answer);
    say_no_more(socket);
    hear(socket);  // stays open until the client ends it
  });
  HttpClient client(private_allowed());
  EXPECT_EQ(told(client, url_of(*server)), "body");
  EXPECT_EQ(told(client, url_of(*server)), "body");
  EXPECT_EQ(server->connections(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HttpReuseNot,
    ::testing::Values(
        Ending{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"},
        Ending{"close_in_a_list",
               "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 4\r\n\r\nbody"},
        Ending{"http_1_0", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbody"},
        Ending{"until_the_end", "HTTP/1.1 200 OK\r\n\r\nbody"},
        Ending{"bytes_unasked", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK"},
        Ending{"ended_while_idle", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"}),
    [](const auto& tested) { return tested.param.name; });

/// Answers the first request of the first connection; then ends each of the first `silent`
/// connections when it has heard a request, saying `last`.
std::unique_ptr<LoopbackServer> ending_server(int silent, const std::string& last) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  return raw_server([=](RawSocket& socket) {
    const int number = (*count)++;
    if (number == 0) {
      hear(socket);
      say(socket, kept_reply("first"));
    }
    while (hear(socket)) {
      if (number < silent) return say(socket, last);
      say(socket, kept_reply("again"));
    }
  });
}

TEST(HttpReuse, asks_once_more_when_a_connection_ends_without_a_word) {
  const auto server = ending_server(1, "");
  HttpClient client(private_allowed());
  EXPECT_EQ(told(client, url_of(*server)), "first");
  EXPECT_EQ(told(client, url_of(*server)), "again");
  EXPECT_EQ(told(client, url_of(*server)), "again");
  EXPECT_EQ(server->connections(), 2);
}

TEST(HttpReuse, asks_not_a_third_time) {
  const auto server = ending_server(2, "");
  HttpClient client(private_allowed());
  EXPECT_EQ(told(client, url_of(*server)), "first");
  EXPECT_EQ(told(client, url_of(*server)), words(errc::http_dropped));
  EXPECT_EQ(server->connections(), 2);
}

TEST(HttpReuse, asks_not_again_when_the_answer_had_begun) {
  const auto server = ending_server(1, "HTTP/1.1 2");
  HttpClient client(private_allowed());
  EXPECT_EQ(told(client, url_of(*server)), "first");
  EXPECT_EQ(told(client, url_of(*server)), words(errc::http_dropped));
  EXPECT_EQ(server->connections(), 1);
}

TEST(HttpReuse, gives_up_on_time_on_an_old_connection_too) {
  std::atomic<int> answers = 0;
  const auto server = raw_server([&](RawSocket& socket) {
    while (hear(socket)) {
      if (answers++ == 0) say(socket, kept_reply("first"));
    }
  });
  auto options = private_allowed();
  options.total_timeout = 200ms;
  HttpClient client(options);
  EXPECT_EQ(told(client, url_of(*server)), "first");
  EXPECT_EQ(told(client, url_of(*server)), words(errc::http_timed_out));
  EXPECT_EQ(server->connections(), 1);
}

TEST(HttpReuse, leaves_the_guard_its_say) {
  const auto server = keeping_server([](const auto& asked) {
    if (asked.target() != "/away") return kept_reply("secret");
    return kept_reply("", "Location: /\r\n").replace(9, 3, "302");
  });
  auto options = private_allowed();
  options.allow_private_hosts = false;
  HttpClient client(options);
  const auto url = url_of(*server, "pds.example");
  EXPECT_EQ(told(client, url, HostOrigin::configured), "secret");
  // A connection waits now that would lead there.
  EXPECT_EQ(told(client, url), words(errc::address_not_public));
  EXPECT_EQ(told(client, url + "/away", HostOrigin::configured), words(errc::address_not_public));
  EXPECT_EQ(told(client, url, HostOrigin::configured), "secret");
  EXPECT_EQ(server->connections(), 1);
}

TEST(HttpReuse, ends_what_is_idle_for_too_long) {
  for (const auto timeout : {0ms, 20ms}) {
    std::promise<void> ended;
    const auto server = raw_server([&](RawSocket& socket) {
      hear(socket);
      say(socket, kept_reply("first"));
      if (!hear(socket)) ended.set_value();
    });
    auto options = private_allowed();
    options.idle_timeout = timeout;
    HttpClient client(options);
    EXPECT_EQ(told(client, url_of(*server)), "first");
    EXPECT_EQ(ended.get_future().wait_for(kLong), std::future_status::ready) << timeout.count();
  }
}

/// Makes requests that are all under way at once.
class Together {
 public:
  std::string answer() {
    std::unique_lock lock(mutex_);
    const int round = inside_++ / kAtOnce;
    changed_.notify_all();
    changed_.wait_for(lock, kLong, [&] { return inside_ >= (round + 1) * kAtOnce; });
    return kept_reply("together");
  }

  static void ask(HttpClient& client, const std::string& url) {
    std::vector<std::promise<std::string>> bodies(kAtOnce);
    for (auto& body : bodies) {
      client.send(request(url), [&body](const Result<HttpAnswer>& answer) {
        body.set_value(answer ? answer->body : answer.error().message());
      });
    }
    for (auto& body : bodies) EXPECT_EQ(body.get_future().get(), "together");
  }

  static constexpr int kAtOnce = 8;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
};

TEST(HttpReuse, keeps_four_connections_of_one_origin) {
  Together together;
  const auto server = keeping_server([&](const auto&) { return together.answer(); });
  HttpClient client(private_allowed());
  Together::ask(client, url_of(*server));
  EXPECT_EQ(server->connections(), Together::kAtOnce);
  Together::ask(client, url_of(*server));
  EXPECT_EQ(server->connections(), 2 * Together::kAtOnce - 4);
}

TEST(HttpReuse, keeps64_connections_in_all) {
  const auto server = keeping_server([](const auto&) { return kept_reply("here"); });
  HttpClient client(private_allowed());
  const auto url = [&](int i) { return url_of(*server, "pds" + std::to_string(i) + ".example"); };
  for (int i = 0; i < 65; ++i) EXPECT_EQ(told(client, url(i)), "here");
  EXPECT_EQ(server->connections(), 65);
  for (int i = 64; i > 0; --i) EXPECT_EQ(told(client, url(i)), "here");
  EXPECT_EQ(server->connections(), 65);
  EXPECT_EQ(told(client, url(0)), "here");
  EXPECT_EQ(server->connections(), 66);
}

}  // namespace
}  // namespace skua::transport::http_reuse_test
