#include "transport/stream_client.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/errc.hpp"
#include "transport/loopback_server.hpp"
#include "transport/recording_sink.hpp"

namespace skua::transport::stream_client_test {
namespace {

using namespace std::chrono_literals;
using test::LoopbackServer;
using test::Peer;
using test::RecordingSink;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kPath = "/xrpc/com.atproto.sync.subscribeRepos";

/// Options for a client of a server on this port: it comes back at once.
StreamClientOptions options_for(std::uint16_t port) {
  StreamClientOptions options;
  options.endpoint = parse_endpoint("ws://127.0.0.1:" + std::to_string(port)).value();
  options.reconnect = {1ms, 5ms, 30s};
  options.random = [] { return 0.5; };
  return options;
}

Bytes frame(std::uint8_t value, std::size_t size = 10) {
  return Bytes(size, value);
}

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::vector<Bytes> frames_between(int first, int last) {
  std::vector<Bytes> frames;
  for (int i = first; i <= last; ++i) {
    frames.push_back(frame(static_cast<std::uint8_t>(i), static_cast<std::size_t>(i) * 37));
  }
  return frames;
}

class FixedClock final : public Clock {
 public:
  Timestamp now() const override { return Timestamp(1234567us); }
};

TEST(StreamClient, gives_frames_in_order) {
  const auto frames = frames_between(0, 200);
  LoopbackServer server([&](Peer& peer) {
    for (const auto& each : frames) peer.send(each);
    peer.wait_for_end();
  });
  const FixedClock clock;
  auto options = options_for(server.port());
  options.clock = &clock;
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(frames.size()));
  client.stop();
  EXPECT_EQ(sink.frames(), frames);
  EXPECT_EQ(sink.received_at(7), Timestamp(1234567us));
  EXPECT_EQ(client.statistics().frames, frames.size());
  EXPECT_EQ(client.statistics().connections, 1U);
  EXPECT_EQ(client.statistics().failures, 0U);
  EXPECT_TRUE(sink.disconnected().empty());
  std::size_t bytes = 0;
  for (const auto& each : frames) bytes += each.size();
  EXPECT_EQ(client.statistics().bytes, bytes);
}

// The client reads up to 64 KiB at a time, so a read ends within a head, within a message, or
// exactly between two.
TEST(StreamClient, gives_frames_of_sizes_around_its_reads) {
  const std::vector<std::size_t> sizes{0,     1,     125,   126,   1534,  1536,   65520, 65525,
                                       65526, 65527, 65535, 65536, 65537, 131062, 131072};
  std::vector<Bytes> frames;
  for (std::size_t i = 0; i < 600; ++i) {
    frames.push_back(frame(static_cast<std::uint8_t>(i), sizes[(i * i + i / 7) % sizes.size()]));
  }
  LoopbackServer server([&](Peer& peer) {
    for (const auto& each : frames) peer.send(each);
    peer.cut();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.reconnect = {30s, 30s, 30s};
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(frames.size()));
  client.stop();
  EXPECT_EQ(sink.frames(), frames);
  EXPECT_EQ(client.statistics().connections, 1U);
}

TEST(StreamClient, says_who_it_is_and_asks_for_what_the_address_says) {
  std::promise<std::pair<std::string, std::string>> asked;
  LoopbackServer server([&](Peer& peer) {
    asked.set_value({peer.target, peer.user_agent});
    peer.wait_for_end();
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  const auto [target, user_agent] = asked.get_future().get();
  EXPECT_EQ(target, kPath);
  EXPECT_TRUE(user_agent.starts_with("skua/")) << user_agent;
  ASSERT_TRUE(sink.wait_for_connections(1));
  EXPECT_THAT(sink.connected(), ElementsAre(1));
}

TEST(StreamClient, asks_for_its_target_at_each_connection) {
  std::promise<void> third;
  std::vector<std::string> targets;
  LoopbackServer server([&](Peer& peer) {
    targets.push_back(peer.target);  // one connection at a time
    peer.send(frame(static_cast<std::uint8_t>(peer.number)));
    if (peer.number < 2) return peer.cut();
    third.set_value();
    peer.wait_for_end();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options = relay_stream(options.endpoint, [&]() -> std::optional<std::int64_t> {
    if (sink.frame_count() == 0) return std::nullopt;
    return 1000 + static_cast<std::int64_t>(sink.frame_count());
  });
  options.reconnect = {1ms, 5ms, 30s};
  StreamClient client(options, sink);
  client.start();
  third.get_future().wait();
  ASSERT_TRUE(sink.wait_for_frames(3));
  client.stop();
  EXPECT_THAT(targets, ElementsAre(kPath, kPath + "?cursor=1001", kPath + "?cursor=1002"));
  EXPECT_THAT(sink.connected(), ElementsAre(1, 2, 3));
  EXPECT_EQ(sink.disconnected().size(), 2U);
  EXPECT_EQ(sink.last_reason(), "the relay dropped the connection");
  EXPECT_EQ(client.statistics().connections, 3U);
  EXPECT_EQ(client.statistics().failures, 2U);
}

TEST(StreamClient, connects_anew_when_it_is_told_to) {
  std::vector<std::string> targets;
  LoopbackServer server([&](Peer& peer) {
    targets.push_back(peer.target);  // one connection at a time
    peer.send(frame(static_cast<std::uint8_t>(peer.number)));
    peer.wait_for_end();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  std::atomic<int> asked{0};
  options.target = [&] { return "/" + std::to_string(++asked); };
  StreamClient client(options, sink);
  client.reconnect("nothing stands yet");
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(1));
  client.reconnect("there is something else to be asked for");
  ASSERT_TRUE(sink.wait_for_frames(2));
  client.stop();
  EXPECT_THAT(targets, ElementsAre("/1", "/2"));
  ASSERT_EQ(sink.disconnected().size(), 1U);
  EXPECT_EQ(sink.disconnected().front().reason, "there is something else to be asked for");
}

// One read brings thousands of these messages. Other work of the client must not wait for all.
TEST(StreamClient, does_other_work_between_small_messages) {
  /// Ends its first connection at the first message.
  class Impatient final : public FrameSink {
   public:
    bool try_accept(RawFrame&) override {
      if (taken++ == 0) client->reconnect("enough");
      return true;
    }
    void when_room(std::function<void()> wake) override { wake(); }
    void on_connected(std::uint64_t) override {}
    void on_disconnected(const Disconnection& end) override {
      if (!is_over) ended.set_value({taken, end.reason});
      is_over = true;
    }

    StreamClient* client = nullptr;
    int taken = 0;
    bool is_over = false;
    std::promise<std::pair<int, std::string>> ended;
  };
  LoopbackServer server([](Peer& peer) {
    for (int i = 0; i < 10'000; ++i) peer.send({});
    peer.wait_for_end();
  });
  Impatient sink;
  StreamClient client(options_for(server.port()), sink);
  sink.client = &client;
  client.start();
  const auto [taken, reason] = sink.ended.get_future().get();
  client.stop();
  EXPECT_EQ(reason, "enough");
  EXPECT_LE(taken, 300);
}

TEST(StreamClient, drops_a_message_that_was_cut_in_the_middle) {
  LoopbackServer server([](Peer& peer) {
    if (peer.number == 0) {
      peer.send(frame(1));
      peer.send_part(frame(2, 100'000));
      return peer.cut();
    }
    peer.send(frame(3));
    peer.wait_for_end();
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(2));
  client.stop();
  EXPECT_THAT(sink.frames(), ElementsAre(frame(1), frame(3)));
  EXPECT_EQ(sink.disconnected().at(0).reason, "the server dropped the connection");
}

TEST(StreamClient, reconnects_when_the_server_falls_silent) {
  LoopbackServer server([](Peer& peer) {
    peer.send(frame(1));
    peer.wait_for_end();  // answers pings, says nothing
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.read_timeout = 60ms;
  options.ping_interval = 10ms;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(3));
  client.stop();
  EXPECT_EQ(sink.disconnected().at(0).reason, "the server sent nothing for 60 ms");
}

TEST(StreamClient, reads_nothing_more_without_credit) {
  constexpr int kFrames = 400;
  std::atomic<int> sent{0};
  LoopbackServer server([&](Peer& peer) {
    for (int i = 0; i < kFrames; ++i) {
      peer.send(frame(static_cast<std::uint8_t>(i), 100'000));
      ++sent;
    }
    peer.wait_for_end();
  });
  RecordingSink sink(3);
  StreamClient client(options_for(server.port()), sink);
  client.start();
  ASSERT_TRUE(sink.wait_until_holding());
  EXPECT_EQ(sink.frame_count(), 3U);
  EXPECT_EQ(client.statistics().frames, 3U);
  // 40 MB do not fit into the buffers of two sockets: the relay is held up.
  EXPECT_LT(sent, kFrames);

  sink.give_credit(1);
  ASSERT_TRUE(sink.wait_for_frames(4));
  ASSERT_TRUE(sink.wait_until_holding());
  EXPECT_EQ(sink.frame_count(), 4U);

  sink.give_credit(kFrames);
  ASSERT_TRUE(sink.wait_for_frames(kFrames));
  client.stop();
  const auto frames = sink.frames();
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_EQ(frames[static_cast<std::size_t>(i)].front(), static_cast<std::uint8_t>(i));
  }
  EXPECT_GE(client.statistics().waits_for_room, 2U);
}

TEST(StreamClient, has_patience_and_pings_while_it_holds_the_reading) {
  std::promise<void> pinged;
  LoopbackServer server([&](Peer& peer) {
    peer.send(frame(1));
    peer.send(frame(2));
    int pings = 0;
    peer.on_ping = [&] {
      if (++pings == 30) pinged.set_value();
    };
    peer.wait_for_end();
  });
  RecordingSink sink(1);
  auto options = options_for(server.port());
  options.read_timeout = 50ms;
  options.ping_interval = 5ms;  // 30 of them last three times as long as the watchdog waits
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_until_holding());
  ASSERT_EQ(pinged.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(sink.disconnected().empty());
  EXPECT_EQ(client.statistics().connections, 1U);
  sink.give_credit(1);
  ASSERT_TRUE(sink.wait_for_frames(2));
}

TEST(StreamClient, tolerates_being_woken_for_nothing) {
  LoopbackServer server([](Peer& peer) {
    for (int i = 0; i < 3; ++i) peer.send(frame(static_cast<std::uint8_t>(i)));
    peer.wait_for_end();
  });
  RecordingSink sink(0);
  StreamClient client(options_for(server.port()), sink);
  client.start();
  std::vector<std::function<void()>> wakes;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(sink.wait_until_holding());
    wakes.push_back(sink.steal_wake());
    wakes.back()();
  }
  ASSERT_TRUE(sink.wait_until_holding());
  EXPECT_EQ(sink.frame_count(), 0U);
  for (const auto& wake : wakes) wake();
  sink.give_credit(3);
  ASSERT_TRUE(sink.wait_for_frames(3));
  EXPECT_THAT(sink.frames(), ElementsAre(frame(0), frame(1), frame(2)));
}

TEST(StreamClient, may_be_woken_when_it_is_gone) {
  LoopbackServer server([](Peer& peer) {
    peer.send(frame(1));
    peer.wait_for_end();
  });
  RecordingSink sink(0);
  {
    StreamClient client(options_for(server.port()), sink);
    client.start();
    ASSERT_TRUE(sink.wait_until_holding());
  }
  sink.give_credit(1);
  EXPECT_EQ(sink.frame_count(), 0U);
}

struct Kinds {
  const char* name;
  MessageKinds wanted;
  std::vector<Bytes> frames;
  std::vector<bool> are_text;
};

class StreamClientKinds : public ::testing::TestWithParam<Kinds> {};

TEST_P(StreamClientKinds, takes_those_it_wants_and_counts_the_others) {
  LoopbackServer server([](Peer& peer) {
    peer.send_text("hello");
    peer.send(frame(1));
    peer.send_text("again");
    peer.send(frame(2));
    peer.close(1000, "");
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.messages = GetParam().wanted;
  options.reconnect = {1h, 1h, 1h};
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  EXPECT_EQ(sink.frames(), GetParam().frames);
  EXPECT_EQ(sink.ignored(), 4 - GetParam().frames.size());
  for (std::size_t i = 0; i < GetParam().are_text.size(); ++i) {
    EXPECT_EQ(sink.is_text(i), GetParam().are_text[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamClientKinds,
    ::testing::Values(
        Kinds{"binary", MessageKinds::Binary, {frame(1), frame(2)}, {false, false}},
        Kinds{"text", MessageKinds::Text, {bytes_of("hello"), bytes_of("again")}, {true, true}},
        Kinds{"both",
              MessageKinds::Both,
              {bytes_of("hello"), frame(1), bytes_of("again"), frame(2)},
              {true, false, true, false}}),
    [](const auto& test) { return test.param.name; });

TEST(StreamClient, believes_that_a_silent_server_lives_when_told_so) {
  std::promise<void> pinged;
  LoopbackServer server([&](Peer& peer) {
    int pings = 0;
    peer.on_ping = [&] {
      if (++pings == 30) pinged.set_value();
    };
    peer.wait_for_end();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.read_timeout = 300ms;
  options.ping_interval = 30ms;  // 30 of them last three times as long as the watchdog waits
  options.may_be_silent = true;
  StreamClient client(options, sink);
  client.start();
  ASSERT_EQ(pinged.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(sink.disconnected().empty());
}

TEST(StreamClient, gives_up_a_silent_server_that_is_deaf) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  LoopbackServer server([&](Peer&) { ended.wait(); });  // answers no ping
  RecordingSink sink;
  auto options = options_for(server.port());
  options.read_timeout = 50ms;
  options.ping_interval = 5ms;
  options.may_be_silent = true;
  options.reconnect = {1h, 1h, 1h};
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  end.set_value();
  EXPECT_EQ(sink.disconnected().at(0).reason, "the server sent nothing for 50 ms");
}

class StreamClientLimit : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StreamClientLimit, passes_a_larger_message_with_its_beginning) {
  LoopbackServer server([](Peer& peer) {
    peer.send(frame(1, 1000));
    peer.send(frame(2, GetParam()));
    peer.send(frame(3, GetParam()));
    peer.send(frame(4, 10));
    peer.wait_for_end();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.max_frame_bytes = 1000;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(4));
  client.stop();
  EXPECT_TRUE(sink.disconnected().empty());
  EXPECT_EQ(sink.frames(),
            (std::vector<Bytes>{frame(1, 1000), frame(2, 1000), frame(3, 1000), frame(4, 10)}));
  const ErrorCode large = errc::message_too_large;
  EXPECT_EQ(sink.defects(), (std::vector<ErrorCode>{{}, large, large, {}}));
  // The rest of a message has no place: it neither counts nor is kept.
  EXPECT_EQ(client.statistics().bytes, 3010U);
}

// The second fits the buffer's first read, the last is longer than all buffers.
INSTANTIATE_TEST_SUITE_P(Sizes, StreamClientLimit,
                         ::testing::Values(1001, 1200, 100'000, 20'000'000));

TEST(StreamClient, a_larger_message_of_an_unwanted_kind_is_ignored) {
  LoopbackServer server([](Peer& peer) {
    peer.send_text(std::string(100'000, 'x'));
    peer.send(frame(1, 10));
    peer.wait_for_end();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.max_frame_bytes = 1000;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(1));
  client.stop();
  EXPECT_EQ(sink.frames().at(0), frame(1, 10));
  EXPECT_EQ(sink.ignored(), 1U);
}

TEST(StreamClient, a_message_without_end_is_passed_on_before_its_connection_ends) {
  LoopbackServer server([](Peer& peer) {
    peer.send_part(frame(1, 5000));
    if (peer.number > 0) peer.wait_for_end();
    peer.cut();
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.max_frame_bytes = 1000;
  options.reconnect = {1h, 1h, 1h};
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  ASSERT_EQ(sink.frames(), std::vector<Bytes>{frame(1, 1000)});
  EXPECT_EQ(sink.defects().at(0), make_error_code(errc::message_too_large));
}

struct Close {
  const char* name;
  std::uint16_t code;
  const char* reason;
  const char* words;
};

class StreamClientClosed : public ::testing::TestWithParam<Close> {};

TEST_P(StreamClientClosed, tells_code_and_reason) {
  LoopbackServer server([](Peer& peer) { peer.close(GetParam().code, GetParam().reason); });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  EXPECT_EQ(sink.disconnected().at(0).reason, GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamClientClosed,
    ::testing::Values(Close{"slow", 1008, "ConsumerTooSlow",
                            "closed by the server: 1008 (policy violation) ConsumerTooSlow"},
                      Close{"restart", 1012, "", "closed by the server: 1012 (service restart)"},
                      Close{"own_code", 4001, "bye", "closed by the server: 4001 bye"}),
    [](const auto& test) { return test.param.name; });

TEST(StreamClient, waits_longer_after_each_failure) {
  LoopbackServer server([](Peer& peer) { peer.cut(); });
  auto options = options_for(server.port());
  options.reconnect = {2ms, 8ms, 30s};
  options.random = [] { return 1.0; };
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(4));
  client.stop();
  const auto disconnects = sink.disconnected();
  EXPECT_EQ(disconnects[0].next_attempt_in, 2ms);
  EXPECT_EQ(disconnects[1].next_attempt_in, 4ms);
  EXPECT_EQ(disconnects[2].next_attempt_in, 8ms);
  EXPECT_EQ(disconnects[3].next_attempt_in, 8ms);
}

/// The reason of the first failure of a client with these options.
std::string first_reason(const StreamClientOptions& options) {
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  EXPECT_TRUE(sink.connected().empty());
  return sink.disconnected().at(0).reason;
}

TEST(StreamClient, says_that_the_connection_was_refused) {
  std::uint16_t port = 0;
  {
    const LoopbackServer gone(LoopbackServer::Options{});
    port = gone.port();
  }
  EXPECT_EQ(first_reason(options_for(port)),
            "connection refused by 127.0.0.1:" + std::to_string(port));
}

TEST(StreamClient, says_that_the_host_is_unknown) {
  auto options = options_for(1);
  options.endpoint.host = "relay.example";
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return errc::host_not_found;
  };
  EXPECT_EQ(first_reason(options), "host not found: relay.example");
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return errc::host_lookup_failed;
  };
  EXPECT_THAT(first_reason(options), HasSubstr("relay.example cannot be looked up now"));
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    throw std::runtime_error("broken");
  };
  EXPECT_THAT(first_reason(options), HasSubstr("relay.example cannot be looked up now"));
}

TEST(StreamClient, connects_to_no_private_address_of_the_network) {
  const LoopbackServer server(LoopbackServer::Options{});
  auto options = options_for(server.port());
  options.public_addresses_only = true;
  EXPECT_EQ(first_reason(options), "127.0.0.1 has only private addresses");
  options.endpoint.host = "labeler.example";
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"127.0.0.1", "10.0.0.1", "::1"};
  };
  EXPECT_EQ(first_reason(options), "labeler.example has only private addresses");
}

TEST(StreamClient, tries_each_address_of_a_name) {
  LoopbackServer server([](Peer& peer) { peer.wait_for_end(); });
  auto options = options_for(server.port());
  options.endpoint.host = "relay.example";
  options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"127.0.0.2", "127.0.0.1"};  // nobody listens on the first
  };
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_connections(1));
  EXPECT_TRUE(sink.disconnected().empty());
}

TEST(StreamClient, looks_up_localhost) {
  LoopbackServer server([](Peer& peer) { peer.wait_for_end(); });
  auto options = options_for(server.port());
  options.endpoint.host = "localhost";
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_connections(1));
}

/// A server that answers whatever comes with `answer` and ends the connection; with nothing it
/// stays silent.
LoopbackServer::Options answering(std::string answer) {
  LoopbackServer::Options options;
  options.raw = [answer = std::move(answer)](boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code ignored;
    std::vector<char> in(4096);
    socket.read_some(boost::asio::buffer(in), ignored);
    if (answer.empty()) {
      while (!ignored) socket.read_some(boost::asio::buffer(in), ignored);
      return;
    }
    boost::asio::write(socket, boost::asio::buffer(answer), ignored);
    socket.shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  };
  return options;
}

TEST(StreamClient, says_that_the_server_speaks_no_websocket) {
  const LoopbackServer not_found(answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(first_reason(options_for(not_found.port())),
              AllOf(HasSubstr("answered 404 Not Found"), HasSubstr(kPath)));
  const LoopbackServer no_http(answering("220 mail.example ESMTP\r\n\r\n"));
  EXPECT_THAT(first_reason(options_for(no_http.port())), HasSubstr("does not answer with HTTP"));
}

TEST(StreamClient, gives_up_on_a_server_that_does_not_answer) {
  const LoopbackServer silent(answering(""));
  auto options = options_for(silent.port());
  options.connect_timeout = 30ms;
  EXPECT_THAT(first_reason(options),
              AllOf(HasSubstr("within 30 ms"), HasSubstr("gave up in the websocket upgrade")));
}

TEST(StreamClient, gives_up_on_a_look_up_that_does_not_end) {
  // Shared: the look-up's thread is left behind.
  const auto release = std::make_shared<std::promise<void>>();
  const auto released = release->get_future().share();
  auto options = options_for(1);
  options.endpoint.host = "relay.example";
  options.connect_timeout = 30ms;
  options.lookup = [released](const std::string&) -> Result<std::vector<std::string>> {
    released.wait();
    return errc::host_lookup_failed;
  };
  EXPECT_THAT(first_reason(options), HasSubstr("gave up looking up its name"));
  release->set_value();
}

/// Runs a client until `ready` says so and requires that stop() then waits for none of its
/// timeouts, which are an hour: the bound leaves room for a machine that is busy.
void expect_prompt_stop(StreamClientOptions options, RecordingSink& sink,
                        const std::function<void()>& ready) {
  options.connect_timeout = 1h;
  options.read_timeout = 1h;
  options.reconnect = {1h, 1h, 1h};
  StreamClient client(options, sink);
  client.start();
  ready();
  const auto before = std::chrono::steady_clock::now();
  client.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
  client.stop();
  EXPECT_FALSE(client.statistics().connected);
}

TEST(StreamClientStop, is_prompt_before_anything_happened) {
  const LoopbackServer server(LoopbackServer::Options{});
  RecordingSink sink;
  expect_prompt_stop(options_for(server.port()), sink, [] {});
}

TEST(StreamClientStop, is_prompt_without_a_start) {
  RecordingSink sink;
  StreamClient client(options_for(1), sink);
  client.stop();
}

TEST(StreamClientStop, is_prompt_during_look_up) {
  const auto release = std::make_shared<std::promise<void>>();
  const auto released = release->get_future().share();
  const auto asked = std::make_shared<std::promise<void>>();
  auto options = options_for(1);
  options.endpoint.host = "relay.example";
  options.lookup = [released, asked](const std::string&) -> Result<std::vector<std::string>> {
    asked->set_value();
    released.wait();
    return errc::host_lookup_failed;
  };
  RecordingSink sink;
  expect_prompt_stop(options, sink, [&] { asked->get_future().wait(); });
  release->set_value();
}

TEST(StreamClientStop, is_prompt_during_the_upgrade) {
  std::promise<void> accepted;
  LoopbackServer::Options server_options;
  server_options.raw = [&](boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code error;
    std::vector<char> in(4096);
    socket.read_some(boost::asio::buffer(in), error);
    accepted.set_value();
    while (!error) socket.read_some(boost::asio::buffer(in), error);
  };
  const LoopbackServer server(server_options);
  RecordingSink sink;
  expect_prompt_stop(options_for(server.port()), sink, [&] { accepted.get_future().wait(); });
}

TEST(StreamClientStop, is_prompt_during_backoff) {
  const LoopbackServer server([](Peer& peer) { peer.cut(); });
  RecordingSink sink;
  expect_prompt_stop(options_for(server.port()), sink, [&] { sink.wait_for_disconnects(1); });
}

TEST(StreamClientStop, is_prompt_on_a_silent_connection) {
  const LoopbackServer server(LoopbackServer::Options{});
  RecordingSink sink;
  expect_prompt_stop(options_for(server.port()), sink, [&] { sink.wait_for_connections(1); });
  EXPECT_TRUE(sink.disconnected().empty());
}

TEST(StreamClientStop, is_prompt_without_credit) {
  const LoopbackServer server([](Peer& peer) {
    for (int i = 0; i < 3; ++i) peer.send(frame(1));
    peer.wait_for_end();
  });
  RecordingSink sink(1);
  expect_prompt_stop(options_for(server.port()), sink, [&] { sink.wait_until_holding(); });
  EXPECT_EQ(sink.frame_count(), 1U);
}

TEST(StreamClientStop, is_prompt_under_load) {
  const LoopbackServer server([](Peer& peer) {
    for (int i = 0; i < 20000; ++i) peer.send(frame(1, 1000));
    peer.wait_for_end();
  });
  RecordingSink sink;
  expect_prompt_stop(options_for(server.port()), sink, [&] { sink.wait_for_frames(100); });
}

TEST(StreamClientStop, waits_for_an_unwilling_server_only_so_long) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  {
    const LoopbackServer server([&](Peer& peer) {
      peer.send(frame(1));
      ended.wait();  // never reads the close frame
    });
    RecordingSink sink;
    auto options = options_for(server.port());
    options.close_timeout = 50ms;
    expect_prompt_stop(options, sink, [&] { sink.wait_for_frames(1); });
    end.set_value();
  }
}

}  // namespace
}  // namespace skua::transport::stream_client_test
