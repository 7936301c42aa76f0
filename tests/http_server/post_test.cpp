#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_server/server.hpp"
#include "http_server/socket_client.hpp"

namespace skua::http_server::post_test {
namespace {

using test::get;
using test::SocketClient;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kJson = "Content-Type: application/json\r\n";

/// The header of a request of JSON.
std::string post(std::string_view target, std::string_view headers) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}{}\r\n", target, kJson, headers);
}

std::string length_of(std::size_t bytes) {
  return fmt::format("Content-Length: {}\r\n", bytes);
}

std::string chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

constexpr const char* kChunked = "Transfer-Encoding: chunked\r\n";
constexpr const char* kLastChunk = "0\r\n\r\n";
constexpr const char* kExpect = "Expect: 100-continue\r\n";

class PostTest : public testing::Test {
 protected:
  /// A server with the POST paths /echo and /secret, and the GET path /text.
  void serve(Limits limits = {}) {
    Server::Routes routes;
    const auto echo = [](const std::shared_ptr<Exchange>& exchange) {
      const auto& request = exchange->request();
      exchange->answer(
          Response{200, "text/plain",
                   fmt::format("{} {} [{}] [{}] {}", name_of(request.method), request.target.path,
                               request.authorization, request.body, request.is_websocket)});
    };
    routes["/echo"] = {Method::Post, echo};
    routes["/text"] = {Method::Get, echo};
    routes["/secret"] = {Method::Post, [](const std::shared_ptr<Exchange>& exchange) {
                           exchange->answer(error_response(401, "AuthMissing", "no token"));
                         }};
    server_ = std::make_unique<Server>(Server::Options{.limits = limits}, std::move(routes));
    server_->start();
  }
  std::string answer(const std::string& request) {
    SocketClient client(server_->port());
    client.send(request);
    return client.read_all();
  }

  std::unique_ptr<Server> server_;
};

TEST_F(PostTest, a_handler_gets_the_body) {
  serve();
  const auto text = answer(post("/echo?a=b", length_of(8)) + R"({"a": 1})");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nPOST /echo [] [{\"a\": 1}] false"));
  EXPECT_THAT(answer(post("/echo", length_of(0))), EndsWith("POST /echo [] [] false"));
  EXPECT_THAT(answer(get("/text")), EndsWith("GET /text [] [] false"));
}

TEST_F(PostTest, a_body_that_arrives_in_parts) {
  serve();
  SocketClient client(server_->port());
  client.send(post("/echo", std::string(length_of(10)) + kExpect));
  ASSERT_TRUE(client.read_until("100 Continue"));
  client.send("hello");
  client.send("world");
  EXPECT_THAT(client.read_all(), EndsWith("[helloworld] false"));
}

TEST_F(PostTest, a_chunked_body) {
  serve({.body_bytes = 10});
  EXPECT_THAT(answer(post("/echo", kChunked) + chunk("hello") + chunk("world") + kLastChunk),
              EndsWith("[helloworld] false"));
  EXPECT_THAT(answer(post("/echo", kChunked) + "5;name=value\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"),
              EndsWith("[hello] false"));
  EXPECT_THAT(answer(post("/echo", kChunked) + kLastChunk), EndsWith("[] false"));
}

TEST_F(PostTest, a_trailer_does_not_replace_a_header) {
  serve();
  EXPECT_THAT(answer(post("/echo", kChunked) + chunk("hello") + "0\r\nAuthorization: x\r\n\r\n"),
              EndsWith("[] [hello] false"));
}

TEST_F(PostTest, a_client_that_waits_for_100_gets_it_before_it_sends_the_body) {
  serve();
  SocketClient client(server_->port());
  client.send(post("/echo", length_of(5) + kExpect));
  ASSERT_TRUE(client.read_until("HTTP/1.1 100 Continue\r\n\r\n"));
  client.send("hello");
  ASSERT_TRUE(client.read_until("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(client.read_all(), EndsWith("[hello] false"));
}

TEST_F(PostTest, a_client_that_waits_for_100_gets_a_refusal_instead) {
  serve({.body_bytes = 4});
  EXPECT_THAT(answer(post("/echo", length_of(5) + kExpect)), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer(post("/text", length_of(4) + kExpect)), StartsWith("HTTP/1.1 405 "));
}

TEST_F(PostTest, no_100_without_a_body_or_for_an_older_client) {
  serve();
  EXPECT_THAT(answer(post("/echo", length_of(0) + kExpect)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(
      answer(fmt::format("POST /echo HTTP/1.0\r\n{}{}{}\r\nhello", kJson, length_of(5), kExpect)),
      StartsWith("HTTP/1.1 200 "));
}

TEST_F(PostTest, a_body_over_the_limit_is_refused) {
  serve({.body_bytes = 100});
  EXPECT_THAT(answer(post("/echo", length_of(100)) + std::string(100, 'x')), HasSubstr("200 OK"));
  const auto refused = answer(post("/echo", length_of(101)));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(refused, HasSubstr("\"BodyTooLarge\""));
  EXPECT_THAT(refused, HasSubstr("at most 100 bytes"));
  EXPECT_THAT(answer(post("/echo", length_of(1'000'000)) + std::string(1'000'000, 'x')),
              HasSubstr("413 "))
      << "the client sends it nevertheless";
}

TEST_F(PostTest, a_chunked_body_over_the_limit_is_refused) {
  serve({.body_bytes = 100});
  const auto part = chunk(std::string(50, 'x'));
  EXPECT_THAT(answer(post("/echo", kChunked) + part + part + kLastChunk), HasSubstr("200 OK"));
  EXPECT_THAT(answer(post("/echo", kChunked) + part + part + "1\r\n"), HasSubstr("BodyTooLarge"));
  EXPECT_THAT(answer(post("/echo", kChunked) + "ffffffffffffffff\r\n"), HasSubstr("413 "));
}

TEST_F(PostTest, the_default_limit_is_64_KiB) {
  serve();
  const std::string largest(std::size_t{64} * 1024, 'x');
  EXPECT_THAT(answer(post("/echo", length_of(largest.size())) + largest),
              EndsWith("[" + largest + "] false"));
  EXPECT_THAT(answer(post("/echo", length_of(largest.size() + 1))), HasSubstr("413 "));
}

TEST_F(PostTest, a_chunk_with_a_long_header_is_refused) {
  serve({.header_bytes = 1024});
  EXPECT_THAT(answer(post("/echo", kChunked) + "1;" + std::string(5000, 'x') + "\r\nx\r\n"),
              HasSubstr("431 "));
}

TEST_F(PostTest, a_body_that_takes_too_long_is_refused) {
  serve({.request_time = 100ms});
  SocketClient declared(server_->port());
  declared.send(post("/echo", length_of(5)) + "hell");
  EXPECT_THAT(declared.read_all(), StartsWith("HTTP/1.1 408 "));
  SocketClient chunked(server_->port());
  chunked.send(post("/echo", kChunked) + chunk("hello"));
  EXPECT_THAT(chunked.read_all(), StartsWith("HTTP/1.1 408 "));
  SocketClient waiting(server_->port());
  waiting.send(post("/echo", length_of(5) + kExpect));
  EXPECT_THAT(waiting.read_all(), StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408 "));
}

TEST_F(PostTest, a_client_that_ends_in_its_body_reaches_no_handler) {
  serve();
  SocketClient client(server_->port());
  client.send(post("/echo", length_of(5)) + "hell");
  client.finish_sending();
  EXPECT_THAT(client.read_all(), HasSubstr("400 Bad Request"));
}

TEST_F(PostTest, another_method_is_refused_with_the_method_of_the_route) {
  serve();
  const auto not_get = answer(post("/text", length_of(5)) + "hello");
  EXPECT_THAT(not_get, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(not_get, HasSubstr("\r\nAllow: GET\r\n"));
  const auto not_post = answer(get("/echo"));
  EXPECT_THAT(not_post, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(not_post, HasSubstr("\r\nAllow: POST\r\n"));
  for (const char* method : {"PUT", "OPTIONS", "DELETE", "HEAD", "NONE"}) {
    EXPECT_THAT(answer(fmt::format("{} /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", method)),
                HasSubstr("\r\nAllow: POST\r\n"))
        << method;
  }
  EXPECT_THAT(answer(post("/other", length_of(0))), HasSubstr("404 Not Found"));
}

TEST_F(PostTest, a_body_that_is_not_json_is_refused) {
  serve();
  const auto typed = [this](std::string_view header) {
    return answer(fmt::format("POST /echo HTTP/1.1\r\nHost: localhost\r\n{}{}\r\nhello", header,
                              length_of(5)));
  };
  for (const char* header :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: text/plain\r\nContent-Type: application/json\r\n"}) {
    EXPECT_THAT(typed(header), HasSubstr("415 Unsupported Media Type")) << header;
  }
  EXPECT_THAT(typed("Content-Type: application/json; charset=utf-8\r\n"), HasSubstr("200 OK"));
}

TEST_F(PostTest, a_compressed_transfer_is_refused) {
  serve();
  for (const char* coding : {"gzip", "gzip, chunked", "chunked, gzip"}) {
    EXPECT_THAT(answer(post("/echo", fmt::format("Transfer-Encoding: {}\r\n", coding))),
                HasSubstr("501 Not Implemented"))
        << coding;
  }
  EXPECT_THAT(answer(post("/echo", length_of(5) + kChunked) + chunk("hello") + kLastChunk),
              HasSubstr("400 Bad Request"))
      << "two lengths";
}

TEST_F(PostTest, a_web_page_of_another_origin_is_refused) {
  serve();
  EXPECT_THAT(answer(post("/echo", length_of(2) + "Origin: https://evil.test\r\n") + "{}"),
              HasSubstr("403 Forbidden"));
}

TEST_F(PostTest, a_handler_gets_the_authorization) {
  serve();
  const std::string header = "Authorization: Bearer abc\r\n";
  EXPECT_THAT(answer(post("/echo", header + length_of(2)) + "{}"),
              EndsWith("POST /echo [Bearer abc] [{}] false"));
  EXPECT_THAT(answer(get("/text", header)), EndsWith("GET /text [Bearer abc] [] false"));
}

TEST_F(PostTest, a_refused_authorization_names_the_scheme) {
  serve();
  const auto text = answer(post("/secret", length_of(2)) + "{}");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(answer(get("/text")), Not(HasSubstr("WWW-Authenticate")));
}

TEST_F(PostTest, a_get_request_with_a_body_is_refused) {
  serve();
  for (const auto& request :
       {get("/text", length_of(5)) + "hello", get("/text", length_of(1'000'000)),
        get("/text", kChunked) + chunk("hello") + kLastChunk}) {
    const auto text = answer(request);
    EXPECT_THAT(text, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(text, HasSubstr(R"("BodyTooLarge","message":"a GET request has no body")"));
  }
  EXPECT_THAT(answer(get("/text", length_of(0))), HasSubstr("200 OK"));
}

TEST_F(PostTest, a_post_request_does_not_ask_for_a_websocket) {
  serve();
  EXPECT_THAT(answer(post("/echo",
                          "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                          "Sec-WebSocket-Version: 13\r\n"
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                              length_of(2)) +
                     "{}"),
              EndsWith("[{}] false"));
}

TEST_F(PostTest, a_stop_ends_a_request_in_its_body) {
  serve();
  SocketClient client(server_->port());
  client.send(post("/echo", length_of(5) + kExpect));
  ASSERT_TRUE(client.read_until("100 Continue\r\n\r\n"));
  server_->stop();
  EXPECT_THAT(client.read_all(), EndsWith("100 Continue\r\n\r\n"));
}

}  // namespace
}  // namespace skua::http_server::post_test
