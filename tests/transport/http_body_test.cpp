#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>
#include <zstd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "transport/errc.hpp"
#include "transport/http_client.hpp"
#include "transport/http_loopback.hpp"
#include "transport/loopback_server.hpp"

namespace skua::transport::http_body_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::http_server;
using test::keeping_server;
using test::kept_reply;
using test::kLong;
using test::LoopbackServer;
using test::private_allowed;
using test::raw_server;
using test::request;
using test::url_of;
using RawSocket = boost::asio::ip::tcp::socket;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("no gzip");
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string zstd_compressed(const std::string& text, int window_log = 0) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer from{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  // The length stays unknown, as it is to a server that compresses while it sends.
  ZSTD_compressStream2(context.get(), &to, &from, ZSTD_e_flush);
  ZSTD_compressStream2(context.get(), &to, &from, ZSTD_e_end);
  out.resize(to.pos);
  return out;
}

std::string compressed(const std::string& encoding, const std::string& text) {
  return encoding == "zstd" ? zstd_compressed(text) : gzipped(text);
}

/// Compressible to about a half.
std::string some_text(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (auto& c : text) c = static_cast<char>('a' + random() % 16);
  return text;
}

std::string content_encoding(const std::string& name) {
  return "Content-Encoding: " + name + "\r\n";
}

std::string chunked_reply(const std::string& body, const std::string& headers) {
  std::string reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + headers + "\r\n";
  constexpr std::size_t kChunk = 4095;
  for (std::size_t at = 0; at < body.size(); at += kChunk) {
    const auto chunk = body.substr(at, kChunk);
    char length[20];
    std::snprintf(length, sizeof length, "%zx\r\n", chunk.size());
    reply += length + chunk + "\r\n";
  }
  return reply + "0\r\n\r\n";
}

/// The answer of a server that says just this, once a connection.
Result<HttpAnswer> answer_to(HttpRequest asked, const std::string& reply, HttpClient& client) {
  const auto server = http_server([&](const auto&) { return reply; });
  asked.url = url_of(*server);
  return client.send(asked);
}

Result<HttpAnswer> answer_to(const HttpRequest& asked, const std::string& reply,
                             const HttpClientOptions& options = private_allowed()) {
  HttpClient client(options);
  return answer_to(asked, reply, client);
}

ErrorCode error_of(const Result<HttpAnswer>& answer) {
  return answer ? ErrorCode() : answer.error();
}

HttpRequest roomy() {
  HttpRequest asked;
  asked.max_body_bytes = 16 * 1024 * 1024;
  return asked;
}

class HttpBodyEncoded : public ::testing::TestWithParam<const char*> {};

TEST_P(HttpBodyEncoded, is_decoded_however_it_is_sent) {
  const std::string encoding = GetParam();
  for (const std::size_t size : {0, 1, 1000, 65'536, 131'072, 1'000'000, 5'000'000}) {
    const auto text = some_text(size);
    const auto body = compressed(encoding, text);
    const auto header = content_encoding(encoding);
    for (const auto& reply :
         {http_reply(200, body, header), chunked_reply(body, header),
          "HTTP/1.1 200 OK\r\nConnection: close\r\n" + header + "\r\n" + body}) {
      const auto answer = answer_to(roomy(), reply);
      ASSERT_TRUE(answer) << answer.error().message();
      EXPECT_TRUE(answer->body == text) << size;
    }
  }
}

TEST_P(HttpBodyEncoded, may_have_several_parts) {
  const auto answer =
      answer_to(roomy(), http_reply(200,
                                    compressed(GetParam(), "one ") + compressed(GetParam(), "") +
                                        compressed(GetParam(), "two"),
                                    content_encoding(GetParam())));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, "one two");
}

TEST_P(HttpBodyEncoded, must_be_complete) {
  HttpClient client(private_allowed());
  const auto whole = compressed(GetParam(), some_text(200));
  const auto header = content_encoding(GetParam());
  const auto until_the_end = "HTTP/1.1 200 OK\r\n" + header + "\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = whole.substr(0, size);
    EXPECT_EQ(error_of(answer_to(roomy(), until_the_end + part, client)), errc::http_dropped)
        << size;
    if (size == 0) continue;
    // Cut before it was sent: as HTTP the answer is complete.
    EXPECT_EQ(error_of(answer_to(roomy(), http_reply(200, part, header), client)),
              errc::http_dropped)
        << size;
  }
  EXPECT_EQ(error_of(answer_to(roomy(), until_the_end + whole, client)), ErrorCode());
  auto cut = http_reply(200, whole, header);
  cut.pop_back();
  EXPECT_EQ(error_of(answer_to(roomy(), cut, client)), errc::http_dropped);
}

TEST_P(HttpBodyEncoded, must_be_what_it_says) {
  const auto whole = compressed(GetParam(), some_text(1000));
  const auto header = content_encoding(GetParam());
  for (const auto& body : {std::string("plain text"), whole + "more", "x" + whole}) {
    EXPECT_EQ(error_of(answer_to(roomy(), http_reply(200, body, header))), errc::http_malformed);
  }
}

TEST_P(HttpBodyEncoded, is_limited_by_what_it_becomes) {
  HttpRequest asked;
  asked.max_body_bytes = 1'000'000;
  const auto reply = [](std::size_t size) {
    return http_reply(200, compressed(GetParam(), std::string(size, 'x')),
                      content_encoding(GetParam()));
  };
  EXPECT_EQ(error_of(answer_to(asked, reply(1'000'000))), ErrorCode());
  for (const std::size_t size : {1'000'001, 64'000'000}) {
    EXPECT_EQ(error_of(answer_to(asked, reply(size))), errc::http_too_large) << size;
  }
}

TEST_P(HttpBodyEncoded, ends_when_it_goes_on_forever_and_means_nothing) {
  const auto empty = compressed(GetParam(), "");
  std::string nothing;
  while (nothing.size() < 2'000'000) nothing += empty;
  HttpRequest asked;
  asked.max_body_bytes = 1'000'000;
  EXPECT_EQ(error_of(answer_to(asked, chunked_reply(nothing, content_encoding(GetParam())))),
            errc::http_too_large);
}

TEST_P(HttpBodyEncoded, may_be_absent) {
  const auto header = content_encoding(GetParam());
  for (const auto& reply : {"HTTP/1.1 204 None\r\n" + header + "\r\n", http_reply(404, "", header)})
    EXPECT_EQ(error_of(answer_to(roomy(), reply)), ErrorCode());
}

INSTANTIATE_TEST_SUITE_P(Table, HttpBodyEncoded, ::testing::Values("gzip", "zstd"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(HttpBody, is_asked_for_without_compression_where_that_is_wanted) {
  std::string accepted;
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    accepted = std::string(asked["Accept-Encoding"]);
    return http_reply(200, "plain");
  });
  HttpClient client(private_allowed());
  auto asked = request(url_of(*server));
  asked.plain = true;
  ASSERT_TRUE(client.send(asked));
  EXPECT_EQ(accepted, "identity");
}

TEST(HttpBody, that_becomes_far_more_than_was_sent_is_refused) {
  // 49 kB that would be 50 MB.
  const std::string zeros(50'000'000, '\0');
  for (const std::string encoding : {"gzip", "zstd"}) {
    const auto body = compressed(encoding, zeros);
    ASSERT_LT(body.size(), 50'000U);
    for (const bool plain : {false, true}) {
      std::size_t held = 0;
      HttpRequest asked;
      asked.max_body_bytes = std::size_t{2} << 30;
      asked.plain = plain;
      asked.may_hold = [&](std::size_t bytes) {
        held += bytes;
        return true;
      };
      EXPECT_EQ(error_of(answer_to(asked, http_reply(200, body, content_encoding(encoding)))),
                errc::http_inflated);
      EXPECT_LT(held, 9'000'000U);
    }
  }
}

TEST(HttpBody, is_held_as_far_as_there_is_room) {
  std::size_t held = 0;
  HttpRequest asked = roomy();
  asked.spool_above = 100'000;
  asked.may_hold = [&](std::size_t bytes) {
    held += bytes;
    return true;
  };
  const auto text = some_text(1'000'000);
  ASSERT_TRUE(answer_to(asked, chunked_reply(text, "")));
  EXPECT_EQ(held, text.size());
  held = 0;
  asked.may_hold = [&](std::size_t bytes) { return (held += bytes) < 500'000; };
  EXPECT_EQ(error_of(answer_to(asked, chunked_reply(text, ""))), errc::http_no_room);
}

TEST(HttpBody, comes_in_an_encoding_that_we_asked_for) {
  std::string accepted;
  const auto server = http_server([&](const LoopbackServer::HttpRequest& asked) {
    accepted = std::string(asked["Accept-Encoding"]);
    return http_reply(200, "plain", content_encoding("identity"));
  });
  HttpClient client(private_allowed());
  const auto answer = client.send(request(url_of(*server)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "plain");
  EXPECT_EQ(accepted, "zstd, gzip");
  const auto old_name = http_reply(200, gzipped("plain"), content_encoding("X-GZIP"));
  EXPECT_EQ(error_of(answer_to(roomy(), old_name)), ErrorCode());
  for (const auto* encoding : {"br", "deflate", "gzip, zstd"}) {
    EXPECT_EQ(error_of(answer_to(roomy(), http_reply(200, "plain", content_encoding(encoding)))),
              errc::http_malformed)
        << encoding;
  }
}

TEST(HttpBody, makes_nobody_hold_a_large_window) {
  const auto text = some_text(1000);
  const auto reply = [&](int window_log) {
    return http_reply(200, zstd_compressed(text, window_log), content_encoding("zstd"));
  };
  EXPECT_EQ(error_of(answer_to(roomy(), reply(23))), ErrorCode());
  EXPECT_EQ(error_of(answer_to(roomy(), reply(24))), errc::http_malformed);
}

TEST(HttpBody, is_held_without_room_to_spare) {
  const auto answer = answer_to(roomy(), http_reply(200, std::string(1'100'000, 'x')));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body.capacity(), 1'100'000U);
}

TEST(HttpBody, is_counted_as_it_comes) {
  const auto body = gzipped(some_text(300'000));
  const auto reply = http_reply(200, body, content_encoding("gzip"));
  std::size_t came = 0;
  auto asked = roomy();
  asked.on_bytes = [&](std::size_t bytes) { came += bytes; };
  EXPECT_TRUE(answer_to(asked, reply));
  EXPECT_EQ(came, reply.size());
}

/// A folder of its own.
class HttpBodySpooled : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  HttpClientOptions options() const {
    auto options = private_allowed();
    options.spool_dir = folder_;
    return options;
  }

  static HttpRequest above(std::size_t size) {
    auto asked = roomy();
    asked.spool_above = size;
    return asked;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("skua-spool-test-" + std::to_string(::getpid()));
};

TEST_F(HttpBodySpooled, stays_in_memory_up_to_the_limit) {
  const auto text = some_text(100'000);
  for (const auto& reply : {http_reply(200, text), chunked_reply(text, ""),
                            http_reply(200, gzipped(text), content_encoding("gzip"))}) {
    const auto answer = answer_to(above(text.size()), reply, options());
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->spooled, nullptr);
    EXPECT_TRUE(answer->body == text);
    EXPECT_TRUE(as_text(body_of(*answer)) == text);
  }
}

TEST_F(HttpBodySpooled, goes_to_a_file_without_a_name_above_it) {
  const auto text = some_text(3'000'000);
  for (const auto& reply : {http_reply(200, text), chunked_reply(text, ""),
                            http_reply(200, gzipped(text), content_encoding("gzip"))}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{100'000}, text.size() - 1}) {
      const auto answer = answer_to(above(size), reply, options());
      ASSERT_TRUE(answer) << answer.error().message();
      ASSERT_NE(answer->spooled, nullptr);
      EXPECT_TRUE(answer->body.empty());
      EXPECT_TRUE(as_text(body_of(*answer)) == text);
      EXPECT_TRUE(std::filesystem::is_empty(folder_));
    }
  }
}

TEST_F(HttpBodySpooled, outlives_the_client) {
  const auto text = some_text(10'000);
  auto answer = answer_to(above(100), http_reply(200, text));
  ASSERT_TRUE(answer) << answer.error().message();
  const auto body = std::move(answer->spooled);
  answer = errc::http_stopped;
  EXPECT_TRUE(as_text(body->view()) == text);
}

TEST_F(HttpBodySpooled, is_limited_too) {
  auto asked = above(1000);
  asked.max_body_bytes = 100'000;
  const std::string text(100'001, 'x');
  for (const auto& reply : {http_reply(200, text), chunked_reply(text, ""),
                            http_reply(200, gzipped(text), content_encoding("gzip"))}) {
    EXPECT_EQ(error_of(answer_to(asked, reply, options())), errc::http_too_large);
  }
}

TEST_F(HttpBodySpooled, says_that_it_cannot_be_written) {
  const auto text = some_text(100'000);
  std::ofstream(folder_ / "file") << "no folder";
  for (const auto* name : {"absent", "file"}) {
    auto unusable = options();
    unusable.spool_dir = folder_ / name;
    for (const auto& reply : {http_reply(200, text), chunked_reply(text, "")}) {
      EXPECT_EQ(error_of(answer_to(above(1000), reply, unusable)), errc::spool_failed) << name;
    }
    EXPECT_EQ(error_of(answer_to(above(text.size()), http_reply(200, text), unusable)),
              ErrorCode());
  }
}

TEST_F(HttpBodySpooled, says_that_the_disk_is_full) {
  // No file may grow beyond this: to write(2) much the same.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{50'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto answer = answer_to(above(1000), http_reply(200, some_text(100'000)), options());
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error_of(answer), errc::spool_failed);
}

void hear(RawSocket& socket) {
  std::string request;
  boost::system::error_code ignored;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n", ignored);
}

/// False: the client has ended the connection.
bool say(RawSocket& socket, const std::string& bytes) {
  boost::system::error_code error;
  boost::asio::write(socket, boost::asio::buffer(bytes), error);
  return !error;
}

/// Says `before`, then a byte in every few milliseconds, `count` of them.
std::unique_ptr<LoopbackServer> trickling_server(const std::string& before, int count) {
  return raw_server([=](RawSocket& socket) {
    hear(socket);
    say(socket, before);
    std::promise<void> never;
    const auto time = never.get_future();
    for (int i = 0; i < count && say(socket, "x"); ++i) time.wait_for(5ms);
  });
}

constexpr const char* kHeadOf100 = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";

TEST(HttpSpeed, lets_a_body_take_its_time_while_it_comes) {
  const auto server = trickling_server(kHeadOf100, 100);
  auto options = private_allowed();
  options.total_timeout = 150ms;
  options.speed_window = 100ms;
  HttpClient client(options);
  auto asked = request(url_of(*server));
  EXPECT_EQ(error_of(client.send(asked)), errc::http_timed_out);
  asked.min_bytes_per_second = 10;
  const auto answer = client.send(asked);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, std::string(100, 'x'));
}

TEST(HttpSpeed, ends_what_comes_too_slowly) {
  auto options = private_allowed();
  options.speed_window = 50ms;
  HttpClient client(options);
  // Fast for longer than a window, then nothing: each window counts for itself.
  const auto stops = raw_server([](RawSocket& socket) {
    hear(socket);
    say(socket, kHeadOf100 + std::string(99, 'x'));
    hear(socket);
  });
  auto asked = request(url_of(*stops));
  asked.min_bytes_per_second = 1;
  EXPECT_EQ(error_of(client.send(asked)), errc::http_too_slow);
  const auto slow = trickling_server(kHeadOf100, 100);
  asked.url = url_of(*slow);
  asked.min_bytes_per_second = 1'000'000;
  EXPECT_EQ(error_of(client.send(asked)), errc::http_too_slow);
}

TEST(HttpSpeed, gives_a_body_a_time_in_proportion_to_its_size) {
  const auto server = trickling_server(kHeadOf100, 100);
  auto options = private_allowed();
  options.speed_window = 50ms;
  options.average_after = 100ms;
  HttpClient client(options);
  auto asked = request(url_of(*server));
  asked.min_bytes_per_second = 1;
  asked.min_average_bytes_per_second = 10'000;
  EXPECT_EQ(error_of(client.send(asked)), errc::http_too_slow);
  asked.min_average_bytes_per_second = 10;
  EXPECT_TRUE(client.send(asked));
}

TEST(HttpSpeed, leaves_the_head_and_redirects_to_the_total_time) {
  auto options = private_allowed();
  options.total_timeout = 150ms;
  HttpClient client(options);
  for (const std::string before :
       {"HTTP/1.1 200 OK\r\nSlow: ", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"}) {
    const auto server = trickling_server(before, 1000);
    auto asked = request(url_of(*server));
    asked.min_bytes_per_second = 1;
    EXPECT_EQ(error_of(client.send(asked)), errc::http_timed_out);
  }
}

TEST(HttpSpeed, knows_a_truncated_body) {
  const auto server = trickling_server(kHeadOf100, 10);
  HttpClient client(private_allowed());
  auto asked = request(url_of(*server));
  asked.min_bytes_per_second = 1;
  EXPECT_EQ(error_of(client.send(asked)), errc::http_dropped);
}

}  // namespace
}  // namespace skua::transport::http_body_test
