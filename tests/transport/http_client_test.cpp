#include "transport/http_client.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "transport/errc.hpp"
#include "transport/http_loopback.hpp"
#include "transport/loopback_server.hpp"

namespace skua::transport::http_client_test {
namespace {

using namespace std::chrono_literals;
using test::failure;
using test::http_reply;
using test::http_server;
using test::kept_reply;
using test::kLong;
using test::LoopbackServer;
using test::private_allowed;
using test::raw_server;
using test::request;
using test::url_of;

TEST(HttpClient, gives_status_headers_and_body) {
  std::string target;
  std::string host;
  std::string agent;
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    target = std::string(asked.target());
    host = std::string(asked["Host"]);
    agent = std::string(asked["User-Agent"]);
    return http_reply(429, "slow down",
                      "Content-Type: text/plain\r\nRetry-After: 17\r\nRateLimit-Limit: 3000\r\n"
                      "RateLimit-Remaining: 0\r\nratelimit-reset: 99\r\n");
  });
  HttpClient client(private_allowed());
  const auto answer = client.send(request(url_of(*server, "pds.example") + "/a/b?cursor=1#part"));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 429U);
  EXPECT_EQ(answer->body, "slow down");
  EXPECT_EQ(answer->content_type, "text/plain");
  EXPECT_EQ(answer->retry_after, "17");
  EXPECT_EQ(answer->rate_limit, "3000");
  EXPECT_EQ(answer->rate_limit_remaining, "0");
  EXPECT_EQ(answer->rate_limit_reset, "99");
  EXPECT_EQ(answer->url, url_of(*server, "pds.example") + "/a/b?cursor=1");
  EXPECT_EQ(target, "/a/b?cursor=1");
  EXPECT_EQ(host, "pds.example:" + std::to_string(server->port()));
  EXPECT_TRUE(agent.starts_with("skua/"));
}

TEST(HttpClient, refuses_a_name_that_leads_to_loopback) {
  const auto server = http_server([](const auto&) { return http_reply(200, "secret"); });
  auto options = private_allowed();
  options.allow_private_hosts = false;
  const auto refused = make_error_code(errc::address_not_public);
  EXPECT_EQ(failure(options, url_of(*server, "pds.example")), refused);
  EXPECT_EQ(failure(options, url_of(*server)), refused);
  EXPECT_EQ(failure(options, url_of(*server, "[::ffff:127.0.0.1]")), refused);
  EXPECT_EQ(failure(options, "http://169.254.169.254/latest/meta-data"), refused);
  EXPECT_EQ(server->connections(), 0);
}

TEST(HttpClient, connects_to_the_address_that_was_checked) {
  // The name could lead to loopback after the check, so the client must not look it up again.
  std::atomic<int> lookups{0};
  auto options = private_allowed();
  options.lookup = [&](const std::string&) -> Result<std::vector<std::string>> {
    ++lookups;
    return std::vector<std::string>{"127.0.0.1"};
  };
  const auto server = http_server([](const auto&) { return http_reply(200, ""); });
  HttpClient client(options);
  EXPECT_TRUE(client.send(request(url_of(*server, "pds.example"))));
  EXPECT_EQ(lookups, 1);
}

TEST(HttpClient, lets_a_configured_host_be_private_but_not_where_it_redirects) {
  const auto inner = http_server([](const auto&) { return http_reply(200, "secret"); });
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    if (asked.target() == "/plain") return http_reply(200, "plain");
    return http_reply(302, "", "Location: " + url_of(*inner) + "\r\n");
  });
  auto options = private_allowed();
  options.allow_private_hosts = false;
  HttpClient client(options);
  HttpRequest asked = request(url_of(*server) + "/plain");
  asked.origin = HostOrigin::configured;
  const auto plain = client.send(asked);
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(plain->body, "plain");
  asked.url = url_of(*server) + "/away";
  const auto away = client.send(asked);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error(), errc::address_not_public);
  EXPECT_EQ(inner->connections(), 0);
}

TEST(HttpClient, follows_redirects_of_every_form) {
  const auto server = http_server([](const LoopbackServer::HttpRequest& asked) {
    const auto target = std::string(asked.target());
    const auto to = [](const std::string& location) {
      return http_reply(302, "", "Location: " + location + "\r\n");
    };
    if (target == "/a/path") return to("/b/c?d=1");
    if (target == "/b/c?d=1") return to("beside");
    if (target == "/b/beside") return to("//" + std::string(asked["Host"]) + "/end");
    if (target == "/x/y/z") return to("../b/./up/../end");
    if (target == "/nowhere") return http_reply(301, "no location");
    return http_reply(200, target);
  });
  HttpClient client(private_allowed());
  const auto answer = client.send(request(url_of(*server) + "/a/path"));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, "/end");
  EXPECT_EQ(answer->url, url_of(*server) + "/end");
  EXPECT_EQ(client.send(request(url_of(*server) + "/x/y/z"))->url, url_of(*server) + "/x/b/end");
  const auto nowhere = client.send(request(url_of(*server) + "/nowhere"));
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(nowhere->status, 301U);
}

TEST(HttpClient, an_empty_location_refers_to_the_same_url) {
  std::atomic<int> asked_so_far{0};
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    if (++asked_so_far < 3) return http_reply(302, "", "Location: \r\n");
    return http_reply(200, std::string(asked.target()));
  });
  HttpClient client(private_allowed());
  const auto answer = client.send(request(url_of(*server) + "/a/b?c=d"));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, "/a/b?c=d");
}

TEST(HttpClient, refuses_redirects_to_no_url_and_too_many) {
  const auto server = http_server([](const LoopbackServer::HttpRequest& asked) {
    const auto target = std::string(asked.target());
    return http_reply(307, "",
                      "Location: " + (target == "/loop" ? target : "file:///etc/passwd") + "\r\n");
  });
  EXPECT_EQ(failure(private_allowed(), url_of(*server) + "/loop"),
            make_error_code(errc::http_too_many_redirects));
  EXPECT_EQ(server->connections(), 4);
  EXPECT_EQ(failure(private_allowed(), url_of(*server) + "/file"),
            make_error_code(errc::http_bad_redirect));
}

TEST(HttpClient, limits_the_body_whatever_the_server_says) {
  const auto server = http_server([](const LoopbackServer::HttpRequest& asked) -> std::string {
    if (asked.target() == "/exact") return http_reply(200, std::string(1000, 'x'));
    if (asked.target() == "/said") return http_reply(200, std::string(1001, 'x'));
    if (asked.target() == "/chunked") {
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
             std::string(1001, 'x') + "\r\n0\r\n\r\n";
    }
    if (asked.target() == "/head") {
      return "HTTP/1.1 200 OK\r\nX-Long: " + std::string(20'000, 'x') + "\r\n\r\n";
    }
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(1001, 'x');
  });
  HttpClient client(private_allowed());
  HttpRequest asked;
  asked.max_body_bytes = 1000;
  asked.url = url_of(*server) + "/exact";
  EXPECT_TRUE(client.send(asked));
  for (const auto* path : {"/said", "/chunked", "/until-the-end", "/head"}) {
    asked.url = url_of(*server) + path;
    const auto answer = client.send(asked);
    ASSERT_FALSE(answer) << path;
    EXPECT_EQ(answer.error(), errc::http_too_large) << path;
  }
}

TEST(HttpClient, holds_no_more_than_the_body_of_a_chunked_answer) {
  std::size_t length = 0;
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) -> std::string {
    const std::string much(length, 'x');
    std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1";
    if (asked.target() == "/extension") answer += ";" + much;
    answer += "\r\nx\r\n0\r\n";
    if (asked.target() == "/trailer") answer += "X-Long: " + much + "\r\n";
    return answer + "\r\n";
  });
  EXPECT_EQ(failure(private_allowed(), url_of(*server) + "/short"), ErrorCode());
  for (const auto* path : {"/extension", "/trailer"}) {
    // Around 64 KiB, of which Beast throws when it is let.
    for (const std::size_t much : {40'000, 65'500, 65'527, 65'533, 65'536, 1'000'000}) {
      length = much;
      EXPECT_EQ(failure(private_allowed(), url_of(*server) + path),
                make_error_code(errc::http_too_large))
          << path << " " << much;
    }
    length = 1000;
    EXPECT_EQ(failure(private_allowed(), url_of(*server) + path), ErrorCode()) << path;
  }
}

TEST(HttpClient, tells_broken_answers_apart) {
  const auto cut = http_server(
      [](const auto&) { return std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"); });
  EXPECT_EQ(failure(private_allowed(), url_of(*cut)), make_error_code(errc::http_dropped));
  const auto noise = http_server([](const auto&) { return std::string("220 mail ready\r\n\r\n"); });
  EXPECT_EQ(failure(private_allowed(), url_of(*noise)), make_error_code(errc::http_malformed));
  const auto silent = raw_server([](auto&) {});
  EXPECT_EQ(failure(private_allowed(), url_of(*silent)), make_error_code(errc::http_dropped));
}

TEST(HttpClient, refuses_what_is_no_url) {
  EXPECT_EQ(failure(private_allowed(), "pds.example"), make_error_code(errc::url_http_scheme));
  EXPECT_EQ(failure(private_allowed(), "ftp://pds.example"),
            make_error_code(errc::url_http_scheme));
  EXPECT_EQ(failure(private_allowed(), "https://a@pds.example"),
            make_error_code(errc::url_credentials));
  EXPECT_EQ(failure(private_allowed(), ""), make_error_code(errc::url_empty));
}

TEST(HttpClient, passes_on_that_a_name_is_unknown) {
  auto options = private_allowed();
  options.lookup = [](const std::string& host) -> Result<std::vector<std::string>> {
    if (host == "none.example") return errc::host_not_found;
    return errc::host_lookup_failed;
  };
  EXPECT_EQ(failure(options, "https://none.example"), make_error_code(errc::host_not_found));
  EXPECT_EQ(failure(options, "https://dns.example"), make_error_code(errc::host_lookup_failed));
}

TEST(HttpClient, tries_the_next_address) {
  const auto server = http_server([](const auto&) { return http_reply(200, "here"); });
  auto options = private_allowed();
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"127.0.0.9", "127.0.0.1"};  // nothing listens on the first
  };
  HttpClient client(options);
  EXPECT_TRUE(client.send(request(url_of(*server, "pds.example"))));
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"127.0.0.9"};
  };
  EXPECT_EQ(failure(options, url_of(*server, "pds.example")),
            make_error_code(errc::connect_refused));
}

TEST(HttpClient, tries_no_more_than_a_few_addresses) {
  const auto server = http_server([](const auto&) { return http_reply(200, "here"); });
  auto options = private_allowed();
  std::size_t before = 7;
  options.lookup = [&before](const std::string&) -> Result<std::vector<std::string>> {
    std::vector<std::string> addresses(before, "127.0.0.9");
    addresses.emplace_back("127.0.0.1");
    return addresses;
  };
  EXPECT_EQ(failure(options, url_of(*server, "pds.example")), ErrorCode());
  before = 8;
  EXPECT_EQ(failure(options, url_of(*server, "pds.example")),
            make_error_code(errc::connect_refused));
  EXPECT_EQ(server->connections(), 1);
}

/// Reads until the client gives up.
void say_nothing(boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  std::vector<char> in(4096);
  while (!error) socket.read_some(boost::asio::buffer(in), error);
}

TEST(HttpClient, gives_up_on_time) {
  const auto server = raw_server(say_nothing);
  auto options = private_allowed();
  options.total_timeout = 50ms;
  EXPECT_EQ(failure(options, url_of(*server)), make_error_code(errc::http_timed_out));
  options.total_timeout = kLong;
  options.connect_timeout = 50ms;
  EXPECT_EQ(failure(options, "https://127.0.0.1:" + std::to_string(server->port())),
            make_error_code(errc::connect_timed_out));
  std::promise<void> release;
  const auto released = release.get_future().share();
  options.lookup = [released](const std::string&) -> Result<std::vector<std::string>> {
    released.wait();
    return std::vector<std::string>{"127.0.0.1"};
  };
  EXPECT_EQ(failure(options, url_of(*server, "pds.example")),
            make_error_code(errc::connect_timed_out));
  release.set_value();
}

TEST(HttpClient, stops_what_is_under_way_and_what_waits) {
  const auto server = raw_server(say_nothing);
  auto options = private_allowed();
  options.max_at_once = 1;
  options.max_waiting = 1;
  HttpClient client(options);
  std::vector<std::promise<ErrorCode>> ends(3);
  for (auto& end : ends) {
    client.send(request(url_of(*server)),
                [&end](const Result<HttpAnswer>& answer) { end.set_value(answer.error()); });
  }
  EXPECT_EQ(ends[2].get_future().get(), errc::http_busy);
  client.stop();
  EXPECT_EQ(ends[0].get_future().get(), errc::http_stopped);
  EXPECT_EQ(ends[1].get_future().get(), errc::http_stopped);
  const auto later = client.send(request(url_of(*server)));
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error(), errc::http_stopped);
}

TEST(HttpClient, makes_many_requests_at_once_but_no_more_than_allowed) {
  constexpr int kAtOnce = 4;
  constexpr int kRequests = 40;
  std::mutex mutex;
  int inside = 0;
  int most = 0;
  std::promise<void> full;
  const auto filled = full.get_future().share();
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    {
      const std::scoped_lock lock(mutex);
      most = std::max(most, ++inside);
      if (inside == kAtOnce && most == kAtOnce) {
        if (filled.wait_for(0s) != std::future_status::ready) full.set_value();
      }
    }
    filled.wait_for(kLong);
    const std::scoped_lock lock(mutex);
    --inside;
    return http_reply(200, std::string(asked.target()));
  });
  auto options = private_allowed();
  options.max_at_once = kAtOnce;
  HttpClient client(options);
  std::vector<std::promise<std::string>> bodies(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    client.send(request(url_of(*server) + "/" + std::to_string(i)),
                [&, i](const Result<HttpAnswer>& answer) {
                  bodies[i].set_value(answer ? answer->body : answer.error().message());
                });
  }
  for (int i = 0; i < kRequests; ++i) {
    EXPECT_EQ(bodies[i].get_future().get(), "/" + std::to_string(i));
  }
  EXPECT_EQ(most, kAtOnce);
}

class HttpClientTls : public ::testing::Test {
 protected:
  void serve(const std::vector<std::string>& names, LoopbackServer::HttpScript script,
             bool keep_alive = false) {
    LoopbackServer::Options options;
    options.keep_alive = keep_alive;
    options.certificate = make_throwaway_certificate(names);
    options.http = std::move(script);
    ca_file_ = std::filesystem::temp_directory_path() /
               ("skua-http-test-" + std::to_string(::getpid()) + ".pem");
    std::ofstream(ca_file_) << options.certificate->ca_pem;
    server_ = std::make_unique<LoopbackServer>(options);
  }

  void TearDown() override { std::filesystem::remove(ca_file_); }

  HttpClientOptions options() const {
    auto options = private_allowed();
    options.ca_file = ca_file_.string();
    return options;
  }

  std::string url(const std::string& host) const {
    return "https://" + host + ":" + std::to_string(server_->port());
  }

  std::filesystem::path ca_file_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(HttpClientTls, checks_the_certificate_against_the_name) {
  serve({"pds.example"}, [](const auto&) { return http_reply(200, "private words"); });
  HttpClient client(options());
  const auto answer = client.send(request(url("pds.example")));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, "private words");
  EXPECT_EQ(failure(options(), url("other.example")), make_error_code(errc::tls_failed));
  EXPECT_EQ(failure(private_allowed(), url("pds.example")), make_error_code(errc::tls_untrusted));
  auto absent = options();
  absent.ca_file = "/nonexistent/ca.pem";
  EXPECT_THROW(HttpClient{absent}, std::runtime_error);
}

TEST_F(HttpClientTls, asks_again_on_the_connection_under_the_same_name_only) {
  serve(
      {"pds.example"}, [](const auto&) { return kept_reply(std::string(300'000, 'x')); }, true);
  HttpClient client(options());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.send(request(url("pds.example")));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->body.size(), 300'000U);
  }
  EXPECT_EQ(server_->connections(), 1);
  const auto other = client.send(request(url("other.example")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error(), errc::tls_failed);
  const auto plain = client.send(request("http://pds.example:" + std::to_string(server_->port())));
  ASSERT_FALSE(plain);
  EXPECT_EQ(server_->connections(), 3);
}

TEST_F(HttpClientTls, never_goes_from_https_to_http) {
  const auto plain = http_server([](const auto&) { return http_reply(200, "plain"); });
  serve({"pds.example"}, [&](const LoopbackServer::HttpRequest& asked) {
    if (asked.target() == "/end") return http_reply(200, "end");
    const auto to = asked.target() == "/down" ? url_of(*plain) : "/end";
    return http_reply(302, "", "Location: " + to + "\r\n");
  });
  EXPECT_EQ(failure(options(), url("pds.example") + "/down"),
            make_error_code(errc::http_downgrade));
  EXPECT_EQ(plain->connections(), 0);
  EXPECT_EQ(failure(options(), url("pds.example") + "/same"), ErrorCode());
}

TEST_F(HttpClientTls, says_when_a_server_speaks_no_tls) {
  serve({"pds.example"}, [](const auto&) { return http_reply(200, ""); });
  const auto plain = http_server([](const auto&) { return http_reply(200, ""); });
  EXPECT_EQ(failure(options(), "https://pds.example:" + std::to_string(plain->port())),
            make_error_code(errc::tls_failed));
}

TEST(HostTime, is_the_header_date) {
  const auto time = [](const std::string& date) {
    HttpAnswer answer;
    answer.date = date;
    return host_time(answer);
  };
  EXPECT_EQ(time("Fri, 02 Jan 2026 03:04:05 GMT"), Timestamp(std::chrono::seconds(1'767'323'045)));
  for (const char* none : {"", "now", "Fri, 02 Jan 2026 03:04:05", "2026-01-02T03:04:05Z"}) {
    EXPECT_EQ(time(none), std::nullopt) << none;
  }
}

TEST(AskedWait, reads_every_form) {
  using std::chrono::seconds;
  const Timestamp now{std::chrono::microseconds(1'767'323'045'500'000)};  // 2026-01-02T03:04:05.5Z
  const auto wait = [&](const std::string& after, const std::string& remaining,
                        const std::string& reset) {
    HttpAnswer answer;
    answer.retry_after = after;
    answer.rate_limit_remaining = remaining;
    answer.rate_limit_reset = reset;
    return asked_wait(answer, now);
  };
  EXPECT_EQ(wait("", "", ""), std::nullopt);
  EXPECT_EQ(wait("17", "", ""), seconds(17));
  EXPECT_EQ(wait("-1", "", ""), seconds(0));
  EXPECT_EQ(wait("Fri, 02 Jan 2026 03:05:00 GMT", "", ""), seconds(55));
  EXPECT_EQ(wait("Fri, 02 Jan 2026 03:00:00 GMT", "", ""), seconds(0));
  EXPECT_EQ(wait("soon", "", ""), std::nullopt);
  EXPECT_EQ(wait("", "0", "1767323105"), seconds(60));
  EXPECT_EQ(wait("", "0", "60"), seconds(60));
  EXPECT_EQ(wait("", "12", "60"), std::nullopt);
  EXPECT_EQ(wait("3", "0", "60"), seconds(3));
  // Numbers that no clock can express.
  const std::string largest = "9223372036854775807";
  EXPECT_GT(wait(largest, "", ""), std::chrono::hours(24));
  EXPECT_GT(wait("", "0", largest), std::chrono::hours(24));
  EXPECT_EQ(wait("-" + largest, "", ""), seconds(0));
  EXPECT_EQ(wait("", "0", "-1"), std::nullopt);
  EXPECT_EQ(wait(largest + "0", "", ""), std::nullopt);
}

}  // namespace
}  // namespace skua::transport::http_client_test
