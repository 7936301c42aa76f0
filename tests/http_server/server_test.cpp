#include "http_server/server.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_server/socket_client.hpp"

namespace skua::http_server::server_test {
namespace {

using test::get;
using test::SocketClient;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

/// Messages that a test pushes; endless if it is told to.
class TestSource final : public MessageSource {
 public:
  void connect(std::function<void()> wake) override {
    const std::scoped_lock lock(mutex_);
    wake_ = std::move(wake);
  }
  MessageBatch next(std::size_t max_bytes) override {
    const std::scoped_lock lock(mutex_);
    MessageBatch batch;
    if (is_endless) batch.messages.push_back({std::string(max_bytes, 'x'), "7"});
    while (!messages_.empty()) {
      batch.messages.push_back(messages_.front());
      messages_.pop_front();
    }
    batch.end = end_;
    return batch;
  }
  std::optional<Message> heartbeat() override { return Message{"beat", "1", "heartbeat"}; }
  std::optional<StreamEnd> receive(std::string_view text) override {
    if (text == "end") return StreamEnd{"ToldTo", "the client said so", 1000};
    push({"heard " + std::string(text)});
    return std::nullopt;
  }

  void push(Message message) {
    std::function<void()> wake;
    {
      const std::scoped_lock lock(mutex_);
      messages_.push_back(std::move(message));
      wake = wake_;
    }
    if (wake) wake();
  }
  void end(StreamEnd end) {
    std::function<void()> wake;
    {
      const std::scoped_lock lock(mutex_);
      end_ = std::move(end);
      wake = wake_;
    }
    if (wake) wake();
  }

  bool is_endless = false;

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::deque<Message> messages_;
  std::optional<StreamEnd> end_;
};

class ServerTest : public testing::Test {
 protected:
  /// A server with the paths /text, /stream and /silent.
  Server& serve(Limits limits = {}) {
    Server::Options options;
    options.limits = limits;
    return serve(std::move(options));
  }
  Server& serve(Server::Options options) {
    Server::Routes routes;
    routes["/text"].handler = [](const std::shared_ptr<Exchange>& exchange) {
      exchange->answer(Response{200, "text/plain", "hello " + exchange->request().address});
    };
    routes["/stream"].handler = [this](const std::shared_ptr<Exchange>& exchange) {
      // As a handler that asks a database.
      threads_.emplace_back([exchange, this] { exchange->answer(source_); });
    };
    routes["/silent"].handler = [this](const std::shared_ptr<Exchange>& exchange) {
      kept_ = exchange;
    };
    options.on_limit = [this](std::string_view error) { limits_met_ += error; };
    server_ = std::make_unique<Server>(std::move(options), std::move(routes));
    server_->start();
    return *server_;
  }
  std::uint16_t port() const { return server_->port(); }
  std::string answer(const std::string& request) {
    SocketClient client(port());
    client.send(request);
    return client.read_all();
  }

  /// The errors of clients beyond the limits. Of the server's thread.
  std::string limits_met_;
  std::shared_ptr<TestSource> source_ = std::make_shared<TestSource>();
  std::shared_ptr<Exchange> kept_;
  std::deque<std::jthread> threads_;
  std::unique_ptr<Server> server_;
};

constexpr const char* kUpgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A text frame of a client (RFC 6455, section 5.2), masked with zeros.
std::string text_frame(std::string_view text) {
  return std::string("\x81") + static_cast<char>(0x80 | text.size()) + std::string(4, '\0') +
         std::string(text);
}

TEST_F(ServerTest, answers_a_request_and_ends_the_connection) {
  serve();
  const auto text = answer(get("/text?a=b"));
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\n\r\nhello 127.0.0.1"));
}

TEST_F(ServerTest, an_answer_states_its_age_and_how_long_it_may_be_kept) {
  Server::Routes routes;
  routes["/kept"].handler = [](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer(Response{.body = "{}", .age = 12s, .max_age = 1h});
  };
  routes["/new"].handler = [](const std::shared_ptr<Exchange>& exchange) {
    exchange->answer(Response{.body = "{}"});
  };
  server_ = std::make_unique<Server>(Server::Options{}, std::move(routes));
  server_->start();
  EXPECT_THAT(answer(get("/kept")), AllOf(HasSubstr("\r\nAge: 12\r\n"),
                                          HasSubstr("\r\nCache-Control: max-age=3600\r\n")));
  EXPECT_THAT(answer(get("/new")),
              AllOf(Not(HasSubstr("\r\nAge:")), HasSubstr("\r\nCache-Control: no-store\r\n")));
}

TEST_F(ServerTest, refuses_what_is_not_a_get_request_of_a_route) {
  serve();
  EXPECT_THAT(answer(get("/other")), HasSubstr("404 Not Found"));
  EXPECT_THAT(answer(get("/text?a=%")), HasSubstr("400 Bad Request"));
  EXPECT_THAT(answer("POST /text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
              HasSubstr("405 Method Not Allowed"));
  EXPECT_THAT(answer("hello\r\n\r\n"), HasSubstr("400 Bad Request"));
  EXPECT_THAT(answer(std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(300, 'a')),
              HasSubstr("400 Bad Request"))
      << "TLS";
}

TEST_F(ServerTest, a_web_page_of_another_origin_is_refused) {
  serve();
  EXPECT_THAT(answer(get("/text", "Origin: https://evil.test\r\n")), HasSubstr("403 Forbidden"));
  EXPECT_THAT(answer(get("/stream", std::string(kUpgrade) + "Origin: https://evil.test\r\n")),
              HasSubstr("403 Forbidden"));
  EXPECT_THAT(answer(get("/text", "Origin: http://localhost\r\n")), HasSubstr("200 OK"));
}

/// A request of a web page whose name resolves to the server's address.
std::string rebound(const std::string& host, const std::string& target,
                    const std::string& headers = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + host + "\r\n" +
         headers + "\r\n";
}

TEST_F(ServerTest, on_loopback_another_host_is_refused) {
  Server::Options options;
  options.hosts = {"skua.example.com"};
  options.hosts_setting = "--http-host";
  serve(options);
  for (const std::string& request :
       {rebound("evil.test:2580", "/text"), rebound("evil.test", "/stream", kUpgrade),
        rebound("evil.test", "/other")}) {
    EXPECT_THAT(answer(request), AllOf(HasSubstr("403 Forbidden"), HasSubstr("evil.test"),
                                       HasSubstr("--http-host")));
  }
  for (const std::string host : {"localhost:7", "127.0.0.1:7", "[::1]:7", "Skua.example.com"}) {
    EXPECT_THAT(answer(rebound(host, "/text")), HasSubstr("200 OK")) << host;
    SocketClient client(port());
    client.send(rebound(host, "/stream", kUpgrade));
    EXPECT_TRUE(client.read_until("101 Switching")) << host;
  }
  // The text of a hostile name is safe.
  EXPECT_THAT(answer(rebound("evil\xe2\x80\xae.test", "/text")),
              AllOf(HasSubstr("403 Forbidden"), Not(HasSubstr("\xe2\x80\xae"))));
}

TEST_F(ServerTest, elsewhere_any_host_is_served_unless_names_are_given) {
  Server::Options options;
  options.address = "0.0.0.0";
  serve(options);
  EXPECT_THAT(answer(rebound("feeds.example.com", "/text")), HasSubstr("200 OK"));
  // Also there a page of another origin is refused.
  EXPECT_THAT(answer(get("/text", "Origin: https://evil.test\r\n")), HasSubstr("403 Forbidden"));
  EXPECT_THAT(answer(get("/stream", std::string(kUpgrade) + "Origin: https://evil.test\r\n")),
              HasSubstr("403 Forbidden"));
  options.hosts = {"feeds.example.com"};
  serve(options);
  EXPECT_THAT(answer(rebound("feeds.example.com", "/text")), HasSubstr("200 OK"));
  EXPECT_THAT(answer(rebound("evil.test", "/text")), HasSubstr("403 Forbidden"));
}

TEST_F(ServerTest, an_oversized_header_is_refused) {
  serve(Limits{.header_bytes = 1024});
  EXPECT_THAT(answer(get("/text", "X: " + std::string(900, 'x') + "\r\n")), HasSubstr("200 OK"));
  EXPECT_THAT(answer(get("/text", "X: " + std::string(1100, 'x') + "\r\n")),
              HasSubstr("431 Request Header"));
  EXPECT_THAT(answer(get("/" + std::string(100'000, 'x'))), HasSubstr("431 Request Header"));
}

TEST_F(ServerTest, a_body_is_refused) {
  serve();
  EXPECT_THAT(answer(get("/text", "Content-Length: 5\r\n") + "hello"), HasSubstr("413 "));
  EXPECT_THAT(answer(get("/text", "Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\n\r\n"),
              HasSubstr("413 "));
}

TEST_F(ServerTest, a_request_that_takes_too_long_is_refused) {
  serve(Limits{.request_time = 100ms});
  SocketClient silent(port());
  EXPECT_THAT(silent.read_all(), HasSubstr("408 Request Timeout"));
  SocketClient half(port());
  half.send("GET /text HTTP/1.1\r\nHost:");
  EXPECT_THAT(half.read_all(), HasSubstr("408 Request Timeout"));
}

TEST_F(ServerTest, a_client_that_ends_the_connection_early_leaves_nothing) {
  auto& server = serve();
  {
    SocketClient nothing(port());
    SocketClient part(port());
    part.send("GET /text HT");
    part.finish_sending();
    part.read_all();
  }
  while (server.connections() > 0) std::this_thread::yield();
}

TEST_F(ServerTest, a_handler_that_does_not_answer_costs_a_limited_time) {
  serve(Limits{.answer_time = 100ms});
  EXPECT_THAT(answer(get("/silent")), HasSubstr("503 Service Unavailable"));
  kept_->answer(Response{});
}

TEST_F(ServerTest, connections_are_limited_in_all) {
  serve(Limits{.connections = 2});
  SocketClient first(port());
  SocketClient second(port());
  EXPECT_THAT(answer(get("/text")), HasSubstr("503 Service Unavailable"));
  first.close();
  while (server_->connections() > 1) std::this_thread::yield();
  EXPECT_THAT(answer(get("/text")), HasSubstr("200 OK"));
  server_->stop();
  EXPECT_EQ(limits_met_, "TooManyConnections");
}

TEST_F(ServerTest, connections_of_an_address_are_limited) {
  serve(Limits{.connections_per_address = 2, .loopback_is_exempt = false});
  SocketClient first(port());
  SocketClient second(port());
  EXPECT_THAT(answer(get("/text")), HasSubstr("429 Too Many Requests"));
  server_->stop();
  serve(Limits{.connections_per_address = 2});
  SocketClient third(port());
  SocketClient fourth(port());
  EXPECT_THAT(answer(get("/text")), HasSubstr("200 OK"));
}

TEST_F(ServerTest, connections_of_a_proxy_count_for_its_clients) {
  Server::Options options;
  options.limits.connections_per_address = 1;
  options.limits.loopback_is_exempt = false;
  options.proxies = {AddressRange::parse("127.0.0.1").value()};
  serve(std::move(options));
  const auto ask = [](const std::string& path, const std::string& client) {
    // The client has sent a header of its own.
    return get(path,
               "X-Forwarded-For: 203.0.113.1\r\nX-Forwarded-For: 203.0.113.2, " + client + "\r\n");
  };
  SocketClient first(port());
  first.send(ask("/stream", "192.0.2.1"));
  ASSERT_TRUE(first.read_until("\r\n\r\n"));
  EXPECT_THAT(answer(ask("/text", "192.0.2.1")), HasSubstr("429 Too Many Requests"));
  EXPECT_THAT(answer(ask("/text", "192.0.2.2")), HasSubstr("hello 192.0.2.2"));
  first.close();
  while (server_->connections() > 0) std::this_thread::yield();
  EXPECT_THAT(answer(ask("/text", "192.0.2.1")), HasSubstr("hello 192.0.2.1"));
  server_->stop();
  EXPECT_EQ(limits_met_, "TooManyConnections");
}

TEST_F(ServerTest, a_client_that_is_no_proxy_cannot_name_another_address) {
  serve();
  EXPECT_THAT(answer(get("/text", "X-Forwarded-For: 192.0.2.1\r\n")), HasSubstr("hello 127.0.0.1"));
}

TEST_F(ServerTest, server_sent_events) {
  serve(Limits{.heartbeat = 50ms});
  SocketClient client(port());
  client.send(get("/stream", "Accept: text/event-stream\r\n"));
  ASSERT_TRUE(client.read_until("event: heartbeat\nid: 1\ndata: beat\n\n"));
  EXPECT_THAT(client.text(), HasSubstr("Content-Type: text/event-stream\r\n"));
  source_->push({"one", "2"});
  source_->push({"two", "3", "kind"});
  ASSERT_TRUE(client.read_until("id: 2\ndata: one\n\n"));
  ASSERT_TRUE(client.read_until("event: kind\nid: 3\ndata: two\n\n"));
  const auto length = client.text().size();
  ASSERT_TRUE(client.read_until("data: two\n\nevent: heartbeat\n")) << "a second one";
  EXPECT_GT(client.text().size(), length);
  source_->end({"Over", "that was all"});
  EXPECT_THAT(
      client.read_all(),
      HasSubstr("event: error\ndata: {\"error\":\"Over\",\"message\":\"that was all\"}\n\n"));
}

TEST_F(ServerTest, a_websocket) {
  serve();
  SocketClient client(port());
  client.send(get("/stream", kUpgrade));
  ASSERT_TRUE(
      client.read_until("\x81\x04"
                        "beat"));
  EXPECT_THAT(client.text(), StartsWith("HTTP/1.1 101 "));
  source_->push({"one", "2"});
  ASSERT_TRUE(client.read_until("\x81\x03one"));
  client.send(text_frame("you"));
  ASSERT_TRUE(client.read_until("\x81\x09heard you"));
  client.send(text_frame("end"));
  // 1000
  ASSERT_TRUE(client.read_until(std::string("\x88\x1c\x03\xe8", 4) + "ToldTo: the client said so"));
}

TEST_F(ServerTest, a_websocket_message_over_the_limit_ends_it) {
  serve(Limits{.message_bytes = 100});
  SocketClient client(port());
  client.send(get("/stream", kUpgrade));
  ASSERT_TRUE(client.read_until("beat"));
  client.send(text_frame(std::string(120, 'x')));
  client.read_all();
  EXPECT_EQ(client.text().find("heard"), std::string::npos);
}

TEST_F(ServerTest, a_silent_websocket_client_is_dropped) {
  serve(Limits{.idle_time = 100ms});
  SocketClient client(port());
  client.send(get("/stream", kUpgrade));
  ASSERT_TRUE(client.read_until("beat"));
  // It answers no ping.
  client.read_all();
  while (server_->connections() > 0) std::this_thread::yield();
}

TEST_F(ServerTest, a_slow_client_gets_the_reason) {
  source_->is_endless = true;
  serve(Limits{.write_time = 100ms, .grace_time = 10'000ms});
  SocketClient client(port(), 4096);
  client.send(get("/stream"));
  ASSERT_TRUE(client.read_until("xxx"));
  std::this_thread::sleep_for(300ms);
  EXPECT_THAT(client.read_all(), HasSubstr("event: error\ndata: {\"error\":\"ConsumerTooSlow\""));
}

TEST_F(ServerTest, a_client_that_takes_nothing_is_dropped) {
  source_->is_endless = true;
  auto& server = serve(Limits{.write_time = 50ms, .grace_time = 50ms});
  SocketClient events(port(), 4096);
  events.send(get("/stream"));
  SocketClient websocket(port(), 4096);
  websocket.send(get("/stream", kUpgrade));
  ASSERT_TRUE(events.read_until("xxx"));
  ASSERT_TRUE(websocket.read_until("xxx"));
  while (server.connections() > 0) std::this_thread::yield();
  EXPECT_EQ(events.read_all().find("ConsumerTooSlow"), std::string::npos);
}

TEST_F(ServerTest, a_stop_ends_all_connections) {
  auto& server = serve();
  SocketClient idle(port());
  SocketClient events(port());
  events.send(get("/stream"));
  ASSERT_TRUE(events.read_until("beat"));
  SocketClient websocket(port());
  websocket.send(get("/stream", kUpgrade));
  ASSERT_TRUE(websocket.read_until("beat"));
  SocketClient asking(port());
  asking.send(get("/silent"));
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_THAT(events.read_all(), HasSubstr("ServerStopped"));
  EXPECT_THAT(websocket.read_all(), HasSubstr("ServerStopped"));
  EXPECT_EQ(idle.read_all(), "");
  source_->push({"late"});
}

TEST(ServerAddressTest, an_address_that_is_not_available_is_an_error) {
  EXPECT_THROW(Server({.address = "nowhere"}, {}), std::runtime_error);
  EXPECT_THROW(Server({.address = "192.0.2.1"}, {}), std::runtime_error);
  const Server first({}, {});
  EXPECT_THROW(Server({.port = first.port()}, {}), std::runtime_error);
}

TEST(ServerAddressTest, loopback_addresses) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("127.9.9.9"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("::"));
  EXPECT_FALSE(is_loopback("localhost"));
}

}  // namespace
}  // namespace skua::http_server::server_test
