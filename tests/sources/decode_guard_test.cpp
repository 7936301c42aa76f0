#include "pipeline/decode_guard.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/decoder.hpp"
#include "pipeline/message_decoder.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "sources/labeler/label_decoder.hpp"
#include "sources/tap/tap_source.hpp"
#include "support/made_labels.hpp"
#include "support/manual_clock.hpp"
#include "verify/signed_repository.hpp"

namespace skua::sources::decode_guard_test {
namespace {

using event::Operation;
using pipeline::AdmittedMessage;
using pipeline::AnyDecoder;
using pipeline::Decoder;
using pipeline::DecoderServices;
using pipeline::DecodeThread;
using pipeline::IntakeCounters;
using pipeline::MessageDecoder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A clock that fails once, as any step of a decoder might.
class FailingClock final : public Clock {
 public:
  Timestamp now() const override {
    if (fails_.exchange(false)) fail_();
    return clock_.now();
  }
  /// The next call of `now` fails. Call it before the threads use the clock.
  void fail_with(std::function<void()> fail) {
    fail_ = std::move(fail);
    fails_ = true;
  }
  bool has_failed() const { return !fails_; }

 private:
  test::ManualClock clock_;
  mutable std::atomic<bool> fails_{false};
  std::function<void()> fail_;
};

enum class Kind : std::uint8_t { Frames, Tap, Jetstream, Labels };

class Decoders : public testing::TestWithParam<Kind> {
 protected:
  void begin() {
    decoder_ = std::make_unique<DecodeThread>(
        DecoderServices{.out = {.runtime = runtime_,
                                .intake = intake_,
                                .in_flight = in_flight_,
                                .sink = [this](auto event) { take(std::move(event)); }}},
        make_decoder);
  }
  static std::unique_ptr<AnyDecoder> make_decoder(DecoderServices services) {
    switch (GetParam()) {
      case Kind::Frames:
        return std::make_unique<Decoder>(std::move(services));
      case Kind::Tap:
        return std::make_unique<MessageDecoder>(std::make_unique<TapReader>(),
                                                std::move(services.out));
      case Kind::Jetstream:
        return std::make_unique<MessageDecoder>(std::make_unique<JetstreamReader>(),
                                                std::move(services.out));
      case Kind::Labels:
        break;
    }
    return std::make_unique<LabelDecoder>(std::move(services.out), nullptr);
  }
  /// A good message; returns its bytes.
  Bytes push() {
    AdmittedMessage message;
    message.seq = ++seq_;
    message.bytes = made_message();
    if (GetParam() == Kind::Frames) {
      static_cast<event::FramePeek&>(message) = *event::peek_frame(message.bytes);
    }
    message.ticket = *in_flight_.admit({.seq = seq_, .bytes = message.bytes.size()});
    const Bytes bytes = message.bytes;
    decoder_->push(std::move(message));
    return bytes;
  }
  /// Waits for all that was pushed.
  void end() {
    decoder_->close();
    decoder_->join();
  }

  Bytes made_message() {
    const std::string rest =
        R"("collection":"app.bsky.feed.like","rkey":"3l2s5xxv2ze2c","rev":"3l2s5xxv2ze2c",)";
    const std::string did = R"("did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa",)";
    std::string text;
    switch (GetParam()) {
      case Kind::Frames: {
        auto body = repository_.commit(
            {{Operation::Create, "app.bsky.feed.post/key" + std::to_string(seq_), "text"}});
        body["seq"] = seq_;
        return test::message("#commit", body);
      }
      case Kind::Labels:
        return test::labels_frame(seq_, {test::made_label("did:plc:labeler", "did:plc:alice",
                                                          "spam", "2026-01-02T03:04:05Z")});
      case Kind::Tap:
        text = R"({"id":7,"type":"record","record":{"live":true,)" + did + rest +
               R"("action":"delete"}})";
        break;
      case Kind::Jetstream:
        text = "{" + did + R"("time_us":1767312000000000,"kind":"commit","commit":{)" + rest +
               R"("operation":"delete"}})";
        break;
    }
    return {text.begin(), text.end()};
  }
  void take(event::UnresolvedEvent event) {
    const std::scoped_lock lock(mutex_);
    if (sink_fails_) throw std::logic_error("the sink is broken");
    events_.push_back(std::move(event));
  }

  FailingClock clock_;
  postgres::Runtime runtime_{"", clock_, [this](const std::string& what) {
                               const std::scoped_lock lock(mutex_);
                               fatal_errors_.push_back(what);
                             }};
  IntakeCounters intake_;
  pipeline::InFlightList in_flight_{{}, nullptr};
  std::mutex mutex_;
  std::vector<event::UnresolvedEvent> events_;
  std::vector<std::string> fatal_errors_;
  bool sink_fails_ = false;
  std::int64_t seq_ = 0;
  test::SignedRepository repository_;
  std::unique_ptr<DecodeThread> decoder_;
};

TEST_P(Decoders, an_exception_makes_a_dead_letter_of_its_message_and_the_stream_goes_on) {
  begin();
  clock_.fail_with([] { throw std::logic_error("what nobody foresaw"); });
  const Bytes bad = push();
  push();
  push();
  end();
  EXPECT_TRUE(clock_.has_failed());
  ASSERT_EQ(events_.size(), 3U);
  const auto* letter = std::get_if<event::Rejection>(&events_[0].body);
  ASSERT_NE(letter, nullptr);
  EXPECT_THAT(letter->error, HasSubstr("what nobody foresaw"));
  EXPECT_EQ(letter->payload, bad);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_FALSE(std::holds_alternative<event::Rejection>(events_[i].body));
  }
  EXPECT_EQ(intake_.unforeseen, 1U);
  EXPECT_EQ(intake_.bad_frames, 1U);
  EXPECT_THAT(fatal_errors_, IsEmpty());
  EXPECT_EQ(decoder_->abandoned(), 0U);
  // Its event was handed on, as the others' were: it finishes with them.
  in_flight_.finish(std::vector<pipeline::InFlightList::Ticket>{0, 1, 2}, Timestamp{});
  EXPECT_EQ(in_flight_.frames(), 0U);
}

TEST_P(Decoders, what_is_the_machines_stops_the_process_once) {
  begin();
  clock_.fail_with([] { throw std::bad_alloc(); });
  push();
  push();
  end();
  EXPECT_THAT(fatal_errors_, ElementsAre(HasSubstr("bad_alloc")));
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(intake_.unforeseen, 0U);
  EXPECT_EQ(in_flight_.watermark(), std::nullopt);
}

TEST_P(Decoders, an_exception_after_the_hand_over_stops_the_process_once) {
  sink_fails_ = true;
  begin();
  push();
  push();
  end();
  EXPECT_THAT(fatal_errors_, ElementsAre(HasSubstr("the sink is broken")));
  EXPECT_EQ(intake_.unforeseen, 0U);
  EXPECT_EQ(in_flight_.watermark(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Decoders,
                         testing::Values(Kind::Frames, Kind::Tap, Kind::Jetstream, Kind::Labels),
                         [](const auto& one) {
                           switch (one.param) {
                             case Kind::Frames:
                               return "frames";
                             case Kind::Tap:
                               return "tap";
                             case Kind::Jetstream:
                               return "jetstream";
                             case Kind::Labels:
                               break;
                           }
                           return "labels";
                         });

TEST(MachineErrors, are_memory_and_what_the_system_refuses) {
  EXPECT_TRUE(is_of_machine(std::bad_alloc()));
  EXPECT_TRUE(is_of_machine(std::system_error(std::make_error_code(std::errc::io_error))));
  EXPECT_FALSE(is_of_machine(std::logic_error("")));
  EXPECT_FALSE(is_of_machine(std::runtime_error("")));
}

}  // namespace
}  // namespace skua::sources::decode_guard_test
