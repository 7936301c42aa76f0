#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_server/server.hpp"
#include "http_server/socket_client.hpp"

namespace skua::http_server::guard_test {
namespace {

using test::get;
using test::SocketClient;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRight = "Authorization: Bearer right\r\n";

/// A server with guarded paths: /a/act (POST), /a/* and /a/b/*; and /open without a guard.
class RouteGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    Server::Routes routes;
    const auto answer = [this](const std::shared_ptr<Exchange>& exchange) {
      ++handled_;
      exchange->answer(Response{200, "text/plain", "handled " + exchange->request().body});
    };
    const auto guard = [this](const Request& request) -> std::optional<Response> {
      ++guarded_;
      EXPECT_EQ(request.body, "");
      EXPECT_EQ(request.address, "127.0.0.1");
      if (bearer_token(request.authorization) == "right") return std::nullopt;
      return error_response(401, "Unauthorized", "no");
    };
    routes["/a/act"] = {Method::Post, answer, guard};
    routes["/a/*"] = {Method::Get, nullptr, guard};
    routes["/a/b/*"] = {Method::Get, answer, guard};
    routes["/open"] = {Method::Get, answer};
    server_ = std::make_unique<Server>(Server::Options{}, std::move(routes));
    server_->start();
  }
  void TearDown() override { server_.reset(); }

  std::string answer(const std::string& request) {
    SocketClient client(server_->port());
    client.send(request);
    return client.read_all();
  }
  static std::string post(std::string_view headers, std::string_view body) {
    return fmt::format("POST /a/act HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}",
                       headers, body.size(), body);
  }

  std::atomic<int> guarded_ = 0;
  std::atomic<int> handled_ = 0;
  std::unique_ptr<Server> server_;
};

TEST_F(RouteGuardTest, a_guard_decides_before_the_method_and_the_body) {
  EXPECT_THAT(answer(post("", "{}")), StartsWith("HTTP/1.1 401 ")) << "no Content-Type";
  EXPECT_THAT(answer(post("", std::string(100'000, 'x'))), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer(get("/a/act")), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(answer("POST /a/act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: "
                     "100-continue\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(handled_, 0);
  EXPECT_THAT(answer(post(kRight, "{}")), StartsWith("HTTP/1.1 415 "));
  EXPECT_THAT(answer(get("/a/act", kRight)), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(answer(post(std::string(kRight) + "Content-Type: application/json\r\n", "{}")),
              HasSubstr("handled {}"));
}

TEST_F(RouteGuardTest, a_path_for_all_others_below_it) {
  for (const char* path : {"/a/", "/a/x", "/a/x/y", "/a/act/"}) {
    EXPECT_THAT(answer(get(path)), StartsWith("HTTP/1.1 401 ")) << path;
    EXPECT_THAT(answer(get(path, kRight)), StartsWith("HTTP/1.1 404 ")) << path;
  }
  EXPECT_THAT(answer(get("/a/b/c/d", kRight)), HasSubstr("handled")) << "the longest one counts";
  EXPECT_THAT(answer(get("/a/b", kRight)), StartsWith("HTTP/1.1 404 "));
  const int before = guarded_;
  for (const char* path : {"/a", "/ab", "/other/x", "/"}) {
    EXPECT_THAT(answer(get(path)), StartsWith("HTTP/1.1 404 ")) << path;
  }
  EXPECT_THAT(answer(get("/open")), HasSubstr("handled"));
  EXPECT_EQ(guarded_, before);
}

TEST_F(RouteGuardTest, a_web_page_of_another_origin_does_not_reach_the_guard) {
  const std::string origin = "Origin: https://evil.test\r\n";
  EXPECT_THAT(answer(get("/a/x", origin)), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer(post(origin + kRight + "Content-Type: application/json\r\n", "{}")),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(guarded_, 0);
  EXPECT_EQ(handled_, 0);
}

TEST(BearerTokenTest, the_scheme_in_any_case_and_the_token_without_spaces) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bEARER   abc "), "abc");
  EXPECT_EQ(bearer_token("Bearer "), "");
  for (const char* other : {"", "Bearer", "Bearerabc", "Basic abc", "abc"}) {
    EXPECT_EQ(bearer_token(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace skua::http_server::guard_test
