#include "app/message_decoder.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "support/manual_clock.hpp"

namespace skua::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kDid = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr const char* kCid = "bafyreid42et2grtcpbhhlz4g2pdhoclnvblfkjr6bw5ztqa3qeq6nmqzmm";

/// A decoder whose events are kept, and durable once the test says so.
class MessageDecoderTest : public testing::Test {
 protected:
  void begin(MessageDecoder::Format format) {
    decoder_ = std::make_unique<MessageDecoder>(
        format, DispatchServices{.intake = intake_,
                                 .in_flight = in_flight_,
                                 .sink =
                                     [this](event::UnresolvedEvent event) {
                                       const std::scoped_lock lock(mutex_);
                                       events_.push_back(std::move(event));
                                     },
                                 .clock = clock_});
  }
  void push(const std::string& text, std::int64_t seq) {
    AdmittedMessage message;
    message.bytes = Bytes(text.begin(), text.end());
    message.seq = seq;
    message.received_at = clock_.now();
    message.ticket = *in_flight_.admit({.seq = seq, .bytes = text.size()});
    decoder_->push(std::move(message));
  }
  /// Waits for all that was pushed.
  void end() {
    decoder_->close();
    decoder_->join();
  }
  static std::string tap(bool live, const std::string& rev, const std::string& more) {
    return R"({"id":7,"type":"record","record":{"live":)" + std::string(live ? "true" : "false") +
           R"(,"did":")" + kDid + R"(","rev":")" + rev +
           R"(","collection":"app.bsky.feed.like","rkey":"3l2s5xxv2ze2c",)" + more + "}}";
  }

  test::ManualClock clock_;
  IntakeCounters intake_;
  std::vector<writer::InFlightList::Ticket> finished_;
  writer::InFlightList in_flight_{
      {},
      [this](auto tickets) { finished_.insert(finished_.end(), tickets.begin(), tickets.end()); }};
  std::mutex mutex_;
  std::vector<event::UnresolvedEvent> events_;
  std::unique_ptr<MessageDecoder> decoder_;
};

TEST_F(MessageDecoderTest, a_change_gets_its_place_for_tombstones_and_its_lane) {
  begin(MessageDecoder::Format::Tap);
  push(tap(true, "3l2s5xxv2ze2c", R"("action":"delete")"), 50);
  push(tap(false, "3l2s5xxv2ze2c", R"("action":"delete")"), 51);
  end();
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[0].seq, 50);
  EXPECT_EQ(events_[0].source, event::EventSource::Live);
  EXPECT_EQ(events_[1].seq, 51);
  EXPECT_EQ(events_[1].source, event::EventSource::Backfill);
  EXPECT_EQ(intake_.ops, 2U);
}

TEST_F(MessageDecoderTest, what_cannot_be_used_keeps_its_name_however_often_it_comes) {
  begin(MessageDecoder::Format::Tap);
  const std::string poison = tap(true, "3l2s5xxv2ze2c", R"("action":"create","record":[1])");
  push(poison, 50);
  push(poison, 60);
  end();
  ASSERT_EQ(events_.size(), 2U);
  for (const auto& event : events_) {
    EXPECT_TRUE(std::holds_alternative<event::Rejection>(event.body));
    EXPECT_EQ(event.seq, 0);
  }
  EXPECT_EQ(intake_.bad_ops, 2U);
}

TEST_F(MessageDecoderTest, what_is_of_no_known_type_is_finished) {
  begin(MessageDecoder::Format::Tap);
  push(R"({"id":8,"type":"label","label":{}})", 1);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_EQ(intake_.unknown, 1U);
}

TEST_F(MessageDecoderTest, what_is_no_message_is_a_dead_letter) {
  begin(MessageDecoder::Format::Tap);
  push("no JSON", 1);
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(std::get<event::Rejection>(events_[0].body).payload,
            Bytes({'n', 'o', ' ', 'J', 'S', 'O', 'N'}));
  EXPECT_EQ(intake_.bad_frames, 1U);
}

TEST_F(MessageDecoderTest, a_revision_of_the_future_is_dropped_and_counted) {
  begin(MessageDecoder::Format::Tap);
  const auto future = atproto::Tid::from_time(clock_.now() + 1h, 0).to_string();
  push(tap(true, future, R"("action":"delete")"), 1);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_EQ(intake_.dropped[static_cast<std::size_t>(verify::errc::future_rev) - 1], 1U);
}

TEST_F(MessageDecoderTest, a_deleted_account_is_purged_and_others_are_hidden) {
  begin(MessageDecoder::Format::Tap);
  for (const std::string status : {"deleted", "suspended"}) {
    push(R"({"id":9,"type":"identity","identity":{"did":")" + std::string(kDid) +
             R"(","handle":"a.example","is_active":false,"status":")" + status + R"("}})",
         1);
  }
  end();
  std::vector<bool> purges;
  for (const auto& event : events_) {
    if (const auto* account = std::get_if<event::AccountChange>(&event.body)) {
      purges.push_back(account->purge);
      EXPECT_FALSE(account->active);
    }
  }
  EXPECT_THAT(purges, ElementsAre(true, false));
}

TEST_F(MessageDecoderTest, a_record_that_json_has_changed_is_stored_and_counted) {
  begin(MessageDecoder::Format::Jetstream);
  push(
      R"({"did":")" + std::string(kDid) +
          R"(","time_us":1000,"kind":"commit","commit":{"rev":"3l2s5xxv2ze2c","operation":"create",)"
          R"("collection":"com.example.note","rkey":"a","record":{"$type":"com.example.note"},"cid":")" +
          kCid + R"("}})",
      1000);
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].seq, 1000);
  EXPECT_TRUE(std::holds_alternative<event::RecordChange>(events_[0].body));
  EXPECT_EQ(intake_.altered, 1U);
}

}  // namespace
}  // namespace skua::app
