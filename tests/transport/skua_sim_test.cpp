#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/dag_cbor.hpp"
#include "transport/capture.hpp"
#include "transport/recording_sink.hpp"
#include "transport/sim_process.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::skua_sim_test {
namespace {

using namespace std::chrono_literals;
using test::RecordingSink;
using test::SimProcess;
using ::testing::HasSubstr;

constexpr std::int64_t kFirstSeq = 101;
constexpr int kFrames = 20;

/// Frame `number` of the capture, from 1: `#sync` with a seq and blocks; number 7 is `#info`
/// without.
Bytes make_frame(int number) {
  Bytes frame;
  repo::CborWriter writer(frame);
  writer.map(2);
  writer.string("t");
  writer.string(number == 7 ? "#info" : "#sync");
  writer.string("op");
  writer.integer(1);
  if (number == 7) {
    writer.map(1);
    writer.string("name");
    writer.string("OutdatedCursor");
    return frame;
  }
  writer.map(2);
  writer.string("seq");
  writer.integer(kFirstSeq + number - 1);
  writer.string("blocks");
  writer.bytes(Bytes(301, static_cast<std::uint8_t>(number)));
  return frame;
}

class SkuaSim : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "skua-sim-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    CaptureWriter writer(folder_ / "capture");
    for (int number = 1; number <= kFrames; ++number) {
      capture_.push_back(make_frame(number));
      writer.append(capture_.back());
    }
  }

  void TearDown() override {
    sim_.reset();
    std::filesystem::remove_all(folder_);
  }

  SimProcess& run(const std::vector<std::string>& flags) {
    sim_ = std::make_unique<SimProcess>(SKUA_SIM, folder_ / "capture", folder_ / "log", flags);
    return *sim_;
  }

  StreamClientOptions options(std::optional<std::int64_t> cursor) const {
    const auto relay = parse_endpoint(sim_->ready().at("relay").get<std::string>()).value();
    auto options = relay_stream(relay, [cursor] { return cursor; });
    if (!sim_->ready().at("ca_file").is_null()) {
      options.ca_file = sim_->ready().at("ca_file").get<std::string>();
    }
    options.reconnect = {1ms, 5ms, 30s};
    return options;
  }

  /// The numbers from..to of the capture's frames.
  std::vector<Bytes> frames(int from, int to) const {
    return {capture_.begin() + from - 1, capture_.begin() + to};
  }

  /// What a client with this cursor gets, when it has `count` frames.
  std::vector<Bytes> received(std::optional<std::int64_t> cursor, std::size_t count) {
    RecordingSink sink;
    StreamClient client(options(cursor), sink);
    client.start();
    EXPECT_TRUE(sink.wait_for_frames(count));
    client.stop();
    return sink.frames();
  }

  std::filesystem::path folder_;
  std::vector<Bytes> capture_;
  std::unique_ptr<SimProcess> sim_;
};

TEST_F(SkuaSim, serves_from_any_cursor_and_logs_it) {
  auto& sim = run({});
  EXPECT_EQ(sim.ready().at("frames"), kFrames);
  EXPECT_EQ(sim.ready().at("last_seq"), kFirstSeq + kFrames - 1);
  EXPECT_EQ(received(std::nullopt, kFrames), capture_);
  EXPECT_EQ(received(0, kFrames), capture_);
  EXPECT_EQ(received(kFirstSeq + 9, kFrames - 10), frames(11, kFrames));
  // A frame without a seq belongs to the frames round it.
  EXPECT_EQ(received(kFirstSeq + 4, kFrames - 5), frames(6, kFrames));
  EXPECT_EQ(sim.end(), 0);
  const auto connects = sim.events("connect");
  ASSERT_EQ(connects.size(), 4U);
  EXPECT_EQ(connects[0].at("cursor"), nullptr);
  EXPECT_EQ(connects[1].at("cursor"), "0");
  EXPECT_EQ(connects[2].at("cursor"), "110");
  EXPECT_EQ(connects[2].at("first_seq"), 111);
  EXPECT_EQ(sim.events("caught_up").size(), 4U);
  EXPECT_EQ(sim.events("disconnect").size(), 4U);
}

TEST_F(SkuaSim, sends_the_cursors_frame_again_when_inclusive) {
  run({"--inclusive"});
  EXPECT_EQ(received(kFirstSeq + 9, kFrames - 9), frames(10, kFrames));
}

TEST_F(SkuaSim, keeps_history_from_a_client_without_cursor) {
  run({"--live-from", "15"});
  EXPECT_EQ(received(std::nullopt, 6), frames(15, kFrames));
  EXPECT_EQ(received(0, kFrames), capture_);
}

TEST_F(SkuaSim, answers_a_future_cursor_as_a_pds_does) {
  run({"--future-cursor", "error"});
  RecordingSink sink;
  StreamClient client(options(kFirstSeq + kFrames), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  EXPECT_EQ(sink.disconnected().at(0).reason,
            "closed by the relay: 1008 (policy violation) FutureCursor");
  Bytes expected;
  repo::CborWriter writer(expected);
  writer.map(1);
  writer.string("op");
  writer.integer(-1);
  writer.map(2);
  writer.string("error");
  writer.string("FutureCursor");
  writer.string("message");
  writer.string("Cursor in the future.");
  EXPECT_EQ(sink.frames().at(0), expected);
}

TEST_F(SkuaSim, cuts_and_stalls_once_each) {
  auto& sim = run({"--cut-at", "5", "--cut-at", "seq:112", "--stall-at", "15"});
  RecordingSink sink;
  // The number of received frames gives the cursor: each frame has the next seq, except that frame
  // 7 has none.
  const auto position = [&]() -> std::optional<std::int64_t> {
    const auto count = static_cast<std::int64_t>(sink.frame_count());
    if (count == 0) return std::nullopt;
    return kFirstSeq + count - 1;
  };
  auto options = this->options(std::nullopt);
  options.target = relay_stream(options.endpoint, position).target;
  options.read_timeout = 100ms;
  StreamClient client(options, sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_frames(kFrames));
  client.stop();
  EXPECT_EQ(sink.frames(), capture_);
  const auto disconnects = sink.disconnected();
  ASSERT_GE(disconnects.size(), 3U);
  EXPECT_EQ(disconnects[0].reason, "the relay dropped the connection");
  EXPECT_EQ(disconnects[1].reason, "the relay dropped the connection");
  EXPECT_EQ(disconnects[2].reason, "the relay sent nothing for 100 ms");
  EXPECT_EQ(sim.end(), 0);
  const auto faults = sim.events("fault");
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[1].at("frame"), 12);
  EXPECT_EQ(faults[2].at("fault"), "stall");
  EXPECT_EQ(sim.events("connect").at(1).at("cursor"), "104");
}

TEST_F(SkuaSim, corrupts_one_byte_of_the_blocks_once) {
  run({"--corrupt-at", "3", "--slow-at", "4:1", "--rate", "5000"});
  const auto first = received(std::nullopt, kFrames);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < first[2].size(); ++i) differing += first[2][i] != capture_[2][i];
  EXPECT_EQ(differing, 1U);
  // The blocks are the frame's last 301 bytes; byte 150 of them is the middle.
  EXPECT_NE(first[2][first[2].size() - 151], capture_[2][first[2].size() - 151]);
  EXPECT_EQ(first[3], capture_[3]);
  EXPECT_EQ(received(std::nullopt, kFrames), capture_);
}

TEST_F(SkuaSim, sends_an_error_frame_and_closes) {
  run({"--error-at", "4:ConsumerTooSlow"});
  RecordingSink sink;
  StreamClient client(options(0), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  EXPECT_THAT(sink.disconnected().at(0).reason,
              HasSubstr("1008 (policy violation) ConsumerTooSlow"));
  const auto got = sink.frames();
  ASSERT_GE(got.size(), 4U);
  EXPECT_THAT(std::string(got[3].begin(), got[3].end()), HasSubstr("ConsumerTooSlow"));
}

TEST_F(SkuaSim, closes_at_the_end_when_told_so) {
  run({"--close-at-end"});
  RecordingSink sink;
  StreamClient client(options(0), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  EXPECT_EQ(sink.disconnected().at(0).reason,
            "closed by the relay: 1000 (normal) end of the capture");
}

TEST_F(SkuaSim, serves_tls_with_its_own_authority) {
  auto& sim = run({"--tls", "--ca-file", folder_ / "ca.pem"});
  EXPECT_THAT(sim.ready().at("relay").get<std::string>(), HasSubstr("wss://localhost:"));
  EXPECT_EQ(received(0, kFrames), capture_);
}

TEST_F(SkuaSim, can_have_a_certificate_for_another_name) {
  auto& sim = run({"--tls", "--host", "relay.example"});
  RecordingSink sink;
  StreamClient client(options(0), sink);
  client.start();
  ASSERT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  EXPECT_EQ(sink.disconnected().at(0).reason,
            "the TLS certificate is not valid for localhost, only for relay.example");
  const auto ca_file = sim.ready().at("ca_file").get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(ca_file));
  EXPECT_EQ(sim.end(), 0);
  EXPECT_FALSE(std::filesystem::exists(ca_file));
}

struct Usage {
  const char* name;
  std::vector<std::string> flags;
};

class SkuaSimUsage : public SkuaSim, public ::testing::WithParamInterface<Usage> {};

TEST_P(SkuaSimUsage, errors_exit_with2) {
  auto& sim = run(GetParam().flags);
  EXPECT_TRUE(sim.ready().is_discarded());
  EXPECT_EQ(sim.end(), 2);
}

INSTANTIATE_TEST_SUITE_P(Table, SkuaSimUsage,
                         ::testing::Values(Usage{"unknown_flag", {"--nonsense"}},
                                           Usage{"cut_at_0", {"--cut-at", "0"}},
                                           Usage{"cut_with_argument", {"--cut-at", "1:2"}},
                                           Usage{"slow_without_ms", {"--slow-at", "1"}},
                                           Usage{"stall_for_ever_and_a_day", {"--stall-at", "1:x"}},
                                           Usage{"error_without_name", {"--error-at", "1:"}},
                                           Usage{"bad_port", {"--port", "70000"}},
                                           Usage{"live_from_0", {"--live-from", "0"}},
                                           Usage{"host_without_tls", {"--host", "relay.example"}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace skua::transport::skua_sim_test
