#include "sources/intake.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <zstd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/frame_builder.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/pending_heads.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "sources/labeler/labeler_source.hpp"
#include "sources/relay/relay_source.hpp"
#include "sources/tap/tap_source.hpp"
#include "support/manual_clock.hpp"
#include "transport/errc.hpp"
#include "verify/errc.hpp"

namespace skua::sources::intake_test {
namespace {

using transport::errc;

constexpr const char* kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

/// A decoder that keeps what it gets.
class MessageList final : public pipeline::AnyDecoder {
 public:
  MessageList(std::vector<pipeline::AdmittedMessage>& messages, std::atomic<std::uint64_t>& taken)
      : messages_(messages), taken_(taken) {}
  void take(pipeline::AdmittedMessage& message) override {
    messages_.push_back(std::move(message));
    ++taken_;
  }
  std::size_t abandoned() const override { return messages_.size(); }

 private:
  std::vector<pipeline::AdmittedMessage>& messages_;
  std::atomic<std::uint64_t>& taken_;
};

class IntakeTest : public testing::Test {
 protected:
  void open(const Source& source, pipeline::InFlightList::Limits limits = {}) {
    pipeline_ = std::make_unique<pipeline::Pipeline>(
        runtime_,
        pipeline::PipelineOptions{.sources = {source.name()},
                                  .decode_threads = 1,
                                  .in_flight = limits,
                                  .make_decoder =
                                      [this](pipeline::DecoderServices) {
                                        return std::make_unique<MessageList>(messages_, taken_);
                                      },
                                  .gaps = &gaps_},
        pool_);
    intake_ = source.make_intake({.pipeline = *pipeline_});
    intake_->on_connected(1);
  }
  static transport::Endpoint endpoint(const std::string& path) {
    return *transport::parse_endpoint("ws://127.0.0.1:1" + path);
  }
  void open_jetstream(bool is_v2 = false) {
    const std::string path = is_v2 ? "/xrpc/network.bsky.jetstream.subscribeEvents" : "/subscribe";
    open(JetstreamSource(endpoint(path), nullptr));
  }
  bool accept(Bytes bytes, bool text, ErrorCode defect = {}) {
    transport::RawFrame frame;
    frame.bytes = std::move(bytes);
    frame.text = text;
    frame.defect = defect;
    frame.received_at = clock_.now();
    const bool is_accepted = intake_->try_accept(frame);
    // Until the decoder has it.
    const auto& counters = pipeline_->intake();
    while (taken_ + counters.dropped.at(verify::index_of(verify::errc::over_share)) <
           counters.frames) {
      std::this_thread::yield();
    }
    return is_accepted;
  }
  bool accept(const std::string& text, bool is_text, ErrorCode defect = {}) {
    return accept(Bytes(text.begin(), text.end()), is_text, defect);
  }
  std::string text(std::size_t i) const {
    return std::string(as_text(ByteView(messages_.at(i).bytes)));
  }

  test::ManualClock clock_;
  pipeline::PendingHeads gaps_;
  // Of the decoder's thread, until it has counted a message.
  std::vector<pipeline::AdmittedMessage> messages_;
  std::atomic<std::uint64_t> taken_{0};
  // It is never started.
  postgres::Runtime runtime_{"", clock_};
  writer::WorkerPool pool_{runtime_};
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Intake> intake_;
};

std::string jetstream_v1(const std::string& more) {
  return R"({"did":")" + std::string(kDid) + R"(","time_us":1779719009132431,"kind":"commit",)" +
         R"("commit":{)" + more;
}

std::string jetstream_v2(const std::string& more) {
  return R"({"$type":"message","payload":{"$type":"x#commit","seq":77,"did":")" +
         std::string(kDid) + R"(","time":"2026-01-02T00:00:00Z",)" + more;
}

std::string tap(const std::string& more) {
  return R"({"id":9,"type":"record","record":{"live":true,"did":")" + std::string(kDid) + R"(",)" +
         more;
}

Bytes zstd(const std::string& plain) {
  Bytes out(ZSTD_compressBound(plain.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 1));
  return out;
}

const ErrorCode kTooLarge = errc::message_too_large;

TEST_F(IntakeTest, the_position_passes_a_frame_that_is_too_large) {
  open(RelaySource(endpoint("")));
  ASSERT_TRUE(accept(test::message("#commit", {{"seq", 4}, {"repo", kDid}}), false));
  Bytes beginning = test::message(
      "#commit",
      {{"ops", nlohmann::json::array()}, {"seq", 5}, {"repo", kDid}, {"blocks", "xxxx"}});
  beginning.resize(beginning.size() - 2);
  ASSERT_TRUE(accept(beginning, false, kTooLarge));
  EXPECT_EQ(intake_->position(), 5);
  ASSERT_EQ(messages_.size(), 2U);
  EXPECT_EQ(messages_[1].did, kDid);
  EXPECT_EQ(messages_[1].seq, 5);
  EXPECT_EQ(messages_[1].defect, kTooLarge);
  EXPECT_EQ(pipeline_->intake().too_large, 1U);
  EXPECT_EQ(pipeline_->intake().frames, 2U);
}

TEST_F(IntakeTest, a_jetstream_leaves_commits_beyond_the_share_of_an_account_to_a_resync) {
  open(JetstreamSource(endpoint("/subscribe"), nullptr), {.frames = 64, .frame_parts = 32});
  const std::string others = "did:plc:z72i7hdynmk6r22z27h6tvur";
  const auto of_other = [&](std::string text) { return text.replace(8, others.size(), others); };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(accept(jetstream_v1("}}"), true));
  // A resync does not replace another kind of message.
  ASSERT_TRUE(
      accept(R"({"did":")" + std::string(kDid) + R"(","time_us":1,"kind":"identity"})", true));
  ASSERT_TRUE(accept(of_other(jetstream_v1("}}")), true));
  EXPECT_EQ(messages_.size(), 4U);
  EXPECT_EQ(pipeline_->intake().dropped.at(verify::index_of(verify::errc::over_share)), 3U);
  const auto& gaps = gaps_.collect_gaps(messages_.back().ticket);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].did, kDid);
}

TEST_F(IntakeTest, a_frame_that_is_too_large_and_says_nothing_is_passed) {
  open(RelaySource(endpoint("")));
  for (const Bytes& beginning : {Bytes(), Bytes(100, 0xff), test::message("#commit", {{"a", 1}})}) {
    ASSERT_TRUE(accept(beginning, false, kTooLarge));
  }
  EXPECT_EQ(intake_->position(), std::nullopt);
  EXPECT_EQ(intake_->wants_end(), std::nullopt);
  EXPECT_EQ(pipeline_->intake().too_large, 3U);
}

TEST_F(IntakeTest, an_error_frame_that_is_too_large_does_not_end_the_connection) {
  open(RelaySource(endpoint("")));
  ASSERT_TRUE(accept(test::frame_of({{"op", -1}}, {{"error", "FutureCursor"}}), false, kTooLarge));
  EXPECT_EQ(intake_->wants_end(), std::nullopt);
  EXPECT_EQ(intake_->restarts(), 0U);
  EXPECT_EQ(pipeline_->intake().too_large, 1U);
}

TEST_F(IntakeTest, a_message_of_a_kind_that_is_not_used_is_counted) {
  open(LabelerSource(endpoint("")));
  EXPECT_EQ(intake_->stream().messages, transport::MessageKinds::Binary);
  intake_->on_ignored();
  intake_->on_ignored();
  EXPECT_EQ(pipeline_->intake().ignored_messages, 2U);
  EXPECT_EQ(pipeline_->intake().frames, 0U);
}

class JetstreamIntakeTest : public IntakeTest, public testing::WithParamInterface<bool> {
 protected:
  std::string beginning() const {
    const std::string more = R"("operation":"create","record":{"text":"xxx)";
    return GetParam() ? jetstream_v2(more) : jetstream_v1(more);
  }
  std::string whole() const { return beginning() + R"("}}})"; }
  std::int64_t cursor() const { return GetParam() ? 77 : 1'779'719'009'132'431; }
};

TEST_P(JetstreamIntakeTest, the_position_passes_a_message_that_is_too_large) {
  open_jetstream(GetParam());
  ASSERT_TRUE(accept(beginning(), true, kTooLarge));
  EXPECT_EQ(intake_->position(), cursor());
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_EQ(messages_[0].did, kDid);
  EXPECT_EQ(messages_[0].seq, cursor());
}

TEST_P(JetstreamIntakeTest, reads_json_of_text_and_binary_messages_and_zstd) {
  open_jetstream(GetParam());
  EXPECT_EQ(intake_->stream().messages, transport::MessageKinds::Both);
  ASSERT_TRUE(accept(whole(), true));
  ASSERT_TRUE(accept(whole(), false));
  ASSERT_TRUE(accept(zstd(whole()), false));
  ASSERT_EQ(messages_.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(text(i), whole());
    EXPECT_EQ(messages_[i].did, kDid);
    EXPECT_FALSE(messages_[i].defect);
  }
}

TEST_P(JetstreamIntakeTest, a_message_that_cannot_be_decompressed_or_is_not_utf8_is_passed) {
  open_jetstream(GetParam());
  Bytes damaged = zstd(whole());
  damaged.resize(damaged.size() - 3);
  ASSERT_TRUE(accept(damaged, false));
  ASSERT_TRUE(accept(zstd(std::string(transport::kMaxFrameBytes + 1, ' ')), false));
  std::string not_utf8 = whole();
  not_utf8[not_utf8.find("xxx")] = '\xff';
  ASSERT_TRUE(accept(not_utf8, false));
  ASSERT_TRUE(accept(zstd(not_utf8), false));
  EXPECT_EQ(intake_->wants_end(), std::nullopt);
  ASSERT_EQ(messages_.size(), 4U);
  EXPECT_EQ(messages_[0].defect, make_error_code(errc::zstd_malformed));
  EXPECT_EQ(messages_[1].defect, make_error_code(errc::zstd_too_large));
  EXPECT_EQ(messages_[2].defect, make_error_code(errc::message_not_utf8));
  EXPECT_EQ(messages_[3].defect, make_error_code(errc::message_not_utf8));
  EXPECT_EQ(messages_[3].did, kDid);
  EXPECT_EQ(intake_->position(), cursor());
  EXPECT_EQ(pipeline_->intake().too_large, 1U);
}

INSTANTIATE_TEST_SUITE_P(Versions, JetstreamIntakeTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "v2" : "v1"; });

TEST_F(IntakeTest, a_dictionary_that_no_message_fits_ends_the_connection) {
  open_jetstream();
  // A frame header (RFC 8878, section 3.1.1.1) that names the dictionary 7.
  const Bytes other = {0x28, 0xb5, 0x2f, 0xfd, 0x21, 0x07, 0x01, 0x09, 0x00, 0x00, 0x61};
  ASSERT_TRUE(accept(other, false));
  EXPECT_THAT(intake_->wants_end().value_or(""), testing::HasSubstr("another zstd dictionary"));
  EXPECT_TRUE(messages_.empty());
  // The first message after the connection was lost is the last one before: the other is passed.
  intake_->on_connected(2);
  ASSERT_TRUE(accept(zstd(jetstream_v1("}}")), false));
  ASSERT_TRUE(accept(other, false));
  EXPECT_EQ(intake_->wants_end(), std::nullopt);
  ASSERT_EQ(messages_.size(), 2U);
  EXPECT_EQ(messages_[1].defect, make_error_code(errc::zstd_other_dictionary));
}

TEST_F(IntakeTest, a_tap_reads_json_of_both_kinds_and_names_the_account_of_a_large_message) {
  open(TapSource(endpoint("/channel"), ""));
  EXPECT_EQ(intake_->stream().messages, transport::MessageKinds::Both);
  const std::string whole = tap(R"("action":"delete"}})");
  ASSERT_TRUE(accept(whole, true));
  ASSERT_TRUE(accept(whole, false));
  ASSERT_TRUE(accept(tap(R"("record":{"text":"xxx)"), true, kTooLarge));
  ASSERT_TRUE(accept(tap("\"a\":\"\xff\"}}"), false));
  ASSERT_EQ(messages_.size(), 4U);
  for (const auto& message : messages_) EXPECT_EQ(message.did, kDid);
  EXPECT_EQ(text(1), whole);
  EXPECT_FALSE(messages_[1].defect);
  EXPECT_EQ(messages_[2].defect, kTooLarge);
  EXPECT_EQ(messages_[3].defect, make_error_code(errc::message_not_utf8));
  EXPECT_EQ(pipeline_->intake().too_large, 1U);
}

}  // namespace
}  // namespace skua::sources::intake_test
