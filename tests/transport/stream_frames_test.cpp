// The client reads most messages without Beast. Here a plain Beast client reads the same bytes.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "atproto/base64.hpp"
#include "transport/impl/failure_text.hpp"
#include "transport/loopback_server.hpp"
#include "transport/recording_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::stream_frames_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;

/// What a client got, and why its connection ended.
struct Received {
  std::vector<std::pair<bool, Bytes>> messages;
  std::string end;

  friend bool operator==(const Received&, const Received&) = default;
};

/// The answer to a request for a websocket (RFC 6455, section 4.2.2).
std::string answer(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  Bytes digest(SHA_DIGEST_LENGTH);
  SHA1(as_bytes(text).data(), text.size(), digest.data());
  std::string accepted;
  atproto::append_base64(accepted, digest);
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         accepted + "=\r\n\r\n";
}

std::string frame(unsigned first, const std::string& content) {
  std::string bytes(1, static_cast<char>(first));
  const std::size_t size = content.size();
  const int more = size < 126 ? 0 : size < 65536 ? 2 : 8;
  bytes += static_cast<char>(more == 0 ? size : more == 2 ? 126 : 127);
  for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(size >> (8 * i));
  return bytes + content;
}

class Script {
 public:
  explicit Script(unsigned seed) : random_(seed) {}

  /// Messages and control frames, and a random end.
  std::string bytes() {
    std::string all;
    const int frames = number(1, 120);
    for (int i = 0; i < frames; ++i) all += step();
    return all + end();
  }

  int number(int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random_);
  }

 private:
  std::string content() {
    static constexpr int kSizes[]{0, 1, 5, 124, 125, 126, 127, 300, 1535, 1536, 4000, 65535, 65536};
    const int size = number(0, 3) == 0 ? kSizes[number(0, 12)] : number(0, 6000);
    return std::string(static_cast<std::size_t>(size), static_cast<char>(number('a', 'z')));
  }

  std::string control() {
    return frame(number(0, 1) == 0 ? 0x89 : 0x8a,
                 std::string(static_cast<std::size_t>(number(0, 125)), 'p'));
  }

  std::string step() {
    switch (number(0, 9)) {
      case 0:
        return control();
      case 1:
        return fragments(number(1, 2));
      case 2:
      case 3:
        return frame(0x81, content() + "\xc3\xa9");
      default:
        return frame(0x82, content());
    }
  }

  std::string fragments(int opcode) {
    std::string all = frame(static_cast<unsigned>(opcode), content());
    while (number(0, 2) > 0) all += number(0, 1) == 0 ? control() : frame(0x00, content());
    return all + frame(0x80, content());
  }

  std::string end() {
    switch (number(0, 11)) {
      case 0:
        return frame(0x88, "");
      case 1:
        return frame(0x88, "\x03\xf1late");
      case 2:
        return frame(0x88, "\x01");
      case 3:
        return frame(0x81, "\xff");
      case 4:
        return frame(0x83, "x");
      case 5:
        return frame(0xc2, "x");
      case 6:
        return frame(0x80, "x");
      case 7:
        return frame(0x02, "x") + frame(0x82, "y");
      case 8:
        return std::string("\x82\x81mask", 6) + "x";
      case 9:
        return std::string("\x82\x7e\x00\x05hello", 9);
      case 10: {
        const std::string cut = frame(0x82, content());
        return cut.substr(0, static_cast<std::size_t>(number(0, static_cast<int>(cut.size()) - 1)));
      }
      default:
        return "";
    }
  }

  std::mt19937 random_;
};

/// Answers two connections with the same bytes in different parts, and reads until each ends.
test::LoopbackServer::Options sending(unsigned seed) {
  test::LoopbackServer::Options options;
  options.raw = [seed](tcp::socket& socket) {
    boost::system::error_code error;
    socket.set_option(tcp::no_delay(true), error);
    boost::beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::read(socket, buffer, request, error);
    if (error) return;
    Script script(seed);
    const std::string bytes =
        answer(std::string(request[http::field::sec_websocket_key])) + script.bytes();
    for (std::size_t begin = 0; begin < bytes.size() && !error;) {
      const int most = script.number(0, 4) == 0 ? 200'000 : 300;
      const std::string part =
          bytes.substr(begin, static_cast<std::size_t>(script.number(1, most)));
      begin += asio::write(socket, asio::buffer(part), error);
    }
    socket.shutdown(tcp::socket::shutdown_send, error);
    std::string rest;
    asio::read(socket, asio::dynamic_buffer(rest), error);
  };
  return options;
}

Received by_beast(std::uint16_t port) {
  asio::io_context io;
  websocket::stream<tcp::socket, false> stream(io);
  stream.next_layer().connect({asio::ip::make_address_v4("127.0.0.1"), port});
  stream.handshake("127.0.0.1", "/");
  Received received;
  boost::system::error_code error;
  while (true) {
    boost::beast::flat_buffer buffer;
    stream.read(buffer, error);
    if (error) break;
    const std::string text = boost::beast::buffers_to_string(buffer.data());
    received.messages.emplace_back(stream.got_text(), Bytes(text.begin(), text.end()));
  }
  received.end = error == websocket::error::closed ? impl::closed_by("the server", stream.reason())
                                                   : impl::read_failed("the server", error);
  return received;
}

Received by_client(std::uint16_t port) {
  StreamClientOptions options;
  options.endpoint = parse_endpoint("ws://127.0.0.1:" + std::to_string(port)).value();
  options.messages = MessageKinds::Both;
  options.reconnect = {1h, 1h, 1h};
  test::RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  Received received;
  const auto frames = sink.frames();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    received.messages.emplace_back(sink.is_text(i), frames[i]);
  }
  received.end = sink.last_reason();
  return received;
}

class StreamFrames : public ::testing::TestWithParam<unsigned> {};

TEST_P(StreamFrames, are_those_that_beast_reads) {
  const test::LoopbackServer server(sending(GetParam()));
  const Received expected = by_beast(server.port());
  const Received received = by_client(server.port());
  EXPECT_EQ(received.end, expected.end);
  EXPECT_EQ(received.messages.size(), expected.messages.size());
  EXPECT_TRUE(received == expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamFrames, ::testing::Range(0U, 60U));

}  // namespace
}  // namespace skua::transport::stream_frames_test
