#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/guarded.hpp"
#include "transport/loopback_server.hpp"
#include "transport/recording_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::stream_send_test {
namespace {

using namespace std::chrono_literals;
using test::LoopbackServer;
using test::Peer;
using test::RecordingSink;
using ::testing::ElementsAre;

StreamClientOptions options_for(std::uint16_t port) {
  StreamClientOptions options;
  options.endpoint = parse_endpoint("ws://127.0.0.1:" + std::to_string(port)).value();
  options.reconnect = {1ms, 5ms, 30s};
  return options;
}

std::string ack(int id) {
  return R"({"type":"ack","id":)" + std::to_string(id) + "}";
}

std::vector<std::string> acks(int count) {
  std::vector<std::string> all;
  for (int id = 0; id < count; ++id) all.push_back(ack(id));
  return all;
}

/// The client's messages until it ends the connection.
std::vector<std::string> all_of(Peer& peer) {
  std::vector<std::string> got;
  while (auto text = peer.receive()) got.push_back(std::move(*text));
  return got;
}

TEST(StreamSend, comes_in_order_while_messages_come_too) {
  constexpr int kAcks = 5000;
  std::promise<std::vector<std::string>> received;
  LoopbackServer server([&](Peer& peer) {
    std::vector<std::string> got;
    for (int i = 0; i < kAcks; ++i) {
      peer.send(Bytes(100, 1));
      got.push_back(peer.receive().value_or("gone"));
    }
    received.set_value(std::move(got));
    peer.wait_for_end();
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(1));
  for (const auto& text : acks(kAcks)) ASSERT_EQ(client.send(1, text), SendOutcome::Queued);
  EXPECT_EQ(received.get_future().get(), acks(kAcks));
  ASSERT_TRUE(sink.wait_for_frames(kAcks));
  client.stop();
  EXPECT_EQ(sink.frame_count(), static_cast<std::size_t>(kAcks));
  EXPECT_EQ(client.statistics().sent, static_cast<std::uint64_t>(kAcks));
  EXPECT_EQ(client.statistics().sends_refused, 0U);
}

/// Messages of several threads that are queued when `stop` is called are still sent, those of each
/// thread in their order.
TEST(StreamSend, from_several_threads_is_all_there_after_a_stop) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::promise<std::vector<std::string>> received;
  LoopbackServer server([&](Peer& peer) { received.set_value(all_of(peer)); });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.close_timeout = 30s;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(1));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&client, thread] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_EQ(client.send(1, ack(thread * kEach + i)), SendOutcome::Queued);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  client.stop();
  EXPECT_EQ(client.send(1, ack(0)), SendOutcome::Gone);
  const auto got = received.get_future().get();
  std::vector<std::vector<std::string>> by_thread(kThreads);
  for (const auto& text : got) {
    const int id = std::stoi(text.substr(text.rfind(':') + 1));
    by_thread.at(static_cast<std::size_t>(id / kEach)).push_back(text);
  }
  for (int thread = 0; thread < kThreads; ++thread) {
    std::vector<std::string> expected;
    for (int i = 0; i < kEach; ++i) expected.push_back(ack(thread * kEach + i));
    EXPECT_EQ(by_thread[static_cast<std::size_t>(thread)], expected);
  }
}

TEST(StreamSend, goes_to_its_own_connection_only) {
  std::promise<void> cut;
  const auto may_cut = cut.get_future().share();
  std::promise<std::vector<std::string>> received;
  LoopbackServer server([&](Peer& peer) {
    if (peer.number == 0) {
      may_cut.wait();
      return peer.cut();
    }
    received.set_value(all_of(peer));
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  EXPECT_EQ(client.send(0, "before the start"), SendOutcome::Gone);
  EXPECT_EQ(client.send(1, "before the start"), SendOutcome::Gone);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(1));
  EXPECT_EQ(client.send(0, "none has this number"), SendOutcome::Gone);
  EXPECT_EQ(client.send(2, "too early"), SendOutcome::Gone);
  cut.set_value();
  ASSERT_TRUE(sink.wait_for_connections(2));
  EXPECT_EQ(client.send(1, "too late"), SendOutcome::Gone);
  EXPECT_EQ(client.send(2, "in time"), SendOutcome::Queued);
  client.stop();
  EXPECT_THAT(received.get_future().get(), ElementsAre("in time"));
}

TEST(StreamSend, is_refused_when_the_server_does_not_read) {
  std::promise<void> read;
  const auto may_read = read.get_future().share();
  std::promise<std::size_t> received;
  LoopbackServer server([&](Peer& peer) {
    may_read.wait();
    received.set_value(all_of(peer).size());
  });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.max_queued_bytes = 100'000;
  options.close_timeout = 30s;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(1));
  // The buffers of two sockets take some megabytes at most.
  constexpr int kMost = 100'000;
  std::size_t queued = 0;
  auto outcome = SendOutcome::Queued;
  while (outcome == SendOutcome::Queued && queued < kMost) {
    outcome = client.send(1, std::string(10'000, 'x'));
    if (outcome == SendOutcome::Queued) ++queued;
  }
  EXPECT_EQ(outcome, SendOutcome::Full);
  EXPECT_EQ(client.statistics().sends_refused, 1U);
  EXPECT_EQ(client.send(1, std::string(100'001, 'x')), SendOutcome::Full);  // never fits
  read.set_value();
  client.stop();
  EXPECT_EQ(received.get_future().get(), queued);
}

TEST(StreamSend, may_be_called_by_the_sink_when_it_connects) {
  /// Says hello on each connection.
  class Greeter final : public FrameSink {
   public:
    bool try_accept(RawFrame&) override { return true; }
    void when_room(std::function<void()> wake) override { wake(); }
    void on_connected(std::uint64_t connection) override {
      EXPECT_EQ(client->send(connection, "hello"), SendOutcome::Queued);
    }
    void on_disconnected(const Disconnection&) override {}

    StreamClient* client = nullptr;
  };
  std::promise<std::string> received;
  LoopbackServer server([&](Peer& peer) {
    received.set_value(peer.receive().value_or("gone"));
    peer.wait_for_end();
  });
  Greeter sink;
  StreamClient client(options_for(server.port()), sink);
  sink.client = &client;
  client.start();
  EXPECT_EQ(received.get_future().get(), "hello");
}

TEST(StreamSend, does_not_hold_up_a_stop_when_the_server_is_deaf) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  LoopbackServer server([&](Peer&) { ended.wait(); });
  RecordingSink sink;
  auto options = options_for(server.port());
  options.close_timeout = 50ms;
  options.max_queued_bytes = 50'000'000;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_connections(1));
  EXPECT_EQ(client.send(1, std::string(40'000'000, 'x')), SendOutcome::Queued);
  const auto before = std::chrono::steady_clock::now();
  client.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
  end.set_value();
}

/// Connections end under the senders' feet, again and again.
TEST(StreamSend, is_safe_while_connections_come_and_go) {
  LoopbackServer server([](Peer& peer) {
    peer.send(Bytes(10, 1));
    peer.receive();
    peer.cut();
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  std::atomic<bool> done{false};
  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] {
      while (!done) {
        const std::uint64_t connection = client.statistics().connections;
        client.send(connection, ack(1));
      }
    });
  }
  EXPECT_TRUE(sink.wait_for_connections(10));
  client.stop();
  done = true;
  for (auto& sender : senders) sender.join();
}

}  // namespace
}  // namespace skua::transport::stream_send_test
