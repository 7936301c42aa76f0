#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/loopback_server.hpp"
#include "transport/recording_sink.hpp"
#include "transport/stream_client.hpp"
#include "transport/throwaway_certificate.hpp"

namespace skua::transport::stream_client_tls_test {
namespace {

using namespace std::chrono_literals;
using test::LoopbackServer;
using test::Peer;
using test::RecordingSink;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A relay over TLS with a certificate for some names, and the authority's certificate in a file.
class StreamClientTls : public ::testing::Test {
 protected:
  void serve(const std::vector<std::string>& names) {
    LoopbackServer::Options options;
    options.certificate = make_throwaway_certificate(names);
    options.script = [](Peer& peer) {
      for (std::uint8_t i = 0; i < 50; ++i) peer.send(Bytes(40'000, i));
      peer.wait_for_end();
    };
    ca_file_ = std::filesystem::temp_directory_path() /
               ("skua-tls-test-" + std::to_string(::getpid()) + ".pem");
    std::ofstream(ca_file_) << options.certificate->ca_pem;
    server_ = std::make_unique<LoopbackServer>(options);
  }

  void TearDown() override { std::filesystem::remove(ca_file_); }

  StreamClientOptions options(const std::string& host) const {
    StreamClientOptions options;
    options.endpoint =
        parse_endpoint("wss://" + host + ":" + std::to_string(server_->port())).value();
    options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"127.0.0.1"};
    };
    options.ca_file = ca_file_.string();
    options.reconnect = {1ms, 5ms, 30s};
    return options;
  }

  std::string refusal(const StreamClientOptions& options) {
    RecordingSink sink;
    StreamClient client(options, sink);
    client.start();
    EXPECT_TRUE(sink.wait_for_disconnects(1));
    client.stop();
    EXPECT_TRUE(sink.connected().empty());
    return sink.disconnected().at(0).reason;
  }

  std::filesystem::path ca_file_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(StreamClientTls, accepts_a_trusted_certificate_for_its_name) {
  serve({"relay.example"});
  RecordingSink sink;
  StreamClient client(options("relay.example"), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(50));
  client.stop();
  const auto frames = sink.frames();
  for (std::uint8_t i = 0; i < 50; ++i) EXPECT_EQ(frames[i], Bytes(40'000, i));
  EXPECT_TRUE(sink.disconnected().empty());
}

TEST_F(StreamClientTls, accepts_a_certificate_for_an_address) {
  serve({"localhost", "127.0.0.1"});
  RecordingSink sink;
  StreamClient client(options("127.0.0.1"), sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_frames(50));
}

TEST_F(StreamClientTls, refuses_a_certificate_for_another_name) {
  serve({"other.example", "third.example"});
  EXPECT_EQ(refusal(options("relay.example")),
            "the TLS certificate is not valid for relay.example, only for other.example, "
            "third.example");
}

TEST_F(StreamClientTls, refuses_a_certificate_for_another_address) {
  serve({"localhost"});
  EXPECT_THAT(refusal(options("127.0.0.1")),
              HasSubstr("the TLS certificate is not valid for 127.0.0.1, only for localhost"));
}

TEST_F(StreamClientTls, refuses_an_unknown_authority) {
  serve({"relay.example"});
  auto without_ca = options("relay.example");
  without_ca.ca_file.clear();
  EXPECT_THAT(refusal(without_ca), HasSubstr("certificate of relay.example is not trusted"));
}

TEST_F(StreamClientTls, refuses_a_ca_file_that_is_none) {
  serve({"relay.example"});
  RecordingSink sink;
  auto absent = options("relay.example");
  absent.ca_file = "/nonexistent/ca.pem";
  EXPECT_THROW(StreamClient(absent, sink), std::runtime_error);
  std::ofstream(ca_file_) << "no certificate\n";
  EXPECT_THROW(StreamClient(options("relay.example"), sink), std::runtime_error);
}

TEST_F(StreamClientTls, says_that_a_server_does_not_speak_tls) {
  serve({"relay.example"});
  LoopbackServer::Options plain;
  plain.raw = [](boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code ignored;
    const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    boost::asio::write(socket, boost::asio::buffer(answer), ignored);
    std::vector<char> in(4096);
    while (!ignored) socket.read_some(boost::asio::buffer(in), ignored);
  };
  server_ = std::make_unique<LoopbackServer>(plain);
  EXPECT_THAT(refusal(options("relay.example")), HasSubstr("does not speak TLS"));
}

TEST_F(StreamClientTls, says_that_a_plain_client_meets_tls) {
  serve({"127.0.0.1"});
  auto plain = options("127.0.0.1");
  plain.endpoint.tls = false;
  EXPECT_FALSE(refusal(plain).empty());
}

TEST_F(StreamClientTls, stops_promptly) {
  serve({"relay.example"});
  RecordingSink sink;
  StreamClient client(options("relay.example"), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(1));
  const auto before = std::chrono::steady_clock::now();
  client.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
}

}  // namespace
}  // namespace skua::transport::stream_client_tls_test
