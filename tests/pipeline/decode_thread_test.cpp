#include "pipeline/decode_thread.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.hpp"

namespace skua::pipeline::decode_thread_test {
namespace {

using testing::ElementsAre;
using testing::Optional;

/// A decoder that writes down what happens. An answer is written down as its text.
class Notes final : public AnyDecoder {
 public:
  explicit Notes(std::vector<std::string>& notes) : notes_(notes) {}
  void take(AdmittedMessage& message) override {
    notes_.push_back(std::string(message.did) + " " + std::to_string(message.seq));
  }
  bool tick() override {
    ++ticks_;
    return false;
  }
  bool waits_in_place() const override { return waits_in_place_; }
  std::size_t abandoned() const override { return static_cast<std::size_t>(ticks_); }

  void note(const std::string& text) { notes_.push_back(text); }

  /// Read by `backlog` only.
  bool waits_in_place_ = false;

 private:
  std::vector<std::string>& notes_;
  int ticks_ = 0;
};

class DecodeThreadTest : public testing::Test {
 protected:
  /// The thread takes its first message when `release` is called.
  void begin() {
    thread_ = std::make_unique<DecodeThread>(
        DecoderServices{.out = {.runtime = runtime_,
                                .intake = intake_,
                                .in_flight = in_flight_,
                                .sink = [](event::UnresolvedEvent) {}}},
        [this](DecoderServices services) {
          answers_ = services.answers;
          auto decoder = std::make_unique<Notes>(notes_);
          decoder_ = decoder.get();
          return decoder;
        });
    answers_.pass("gate", [this] { is_released_.wait(false); });
  }
  void release() {
    is_released_ = true;
    is_released_.notify_all();
  }
  void push(const char* did, std::int64_t seq) {
    AdmittedMessage message;
    message.did = did;
    message.seq = seq;
    thread_->push(std::move(message));
  }
  void end() {
    release();
    thread_->close();
    thread_->join();
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{"", clock_, [](const std::string&) {}};
  IntakeCounters intake_;
  InFlightList in_flight_{{}, nullptr};
  std::vector<std::string> notes_;
  std::atomic<bool> is_released_{false};
  AnswerQueue answers_;
  Notes* decoder_ = nullptr;
  std::unique_ptr<DecodeThread> thread_;
};

TEST_F(DecodeThreadTest, accounts_take_turns_and_each_keeps_its_order) {
  begin();
  push("alice", 1);
  push("alice", 2);
  push("bob", 3);
  push("alice", 4);
  end();
  EXPECT_THAT(notes_, ElementsAre("alice 1", "bob 3", "alice 2", "alice 4"));
}

TEST_F(DecodeThreadTest, an_answer_comes_in_the_turn_of_its_account) {
  begin();
  push("alice", 1);
  answers_.pass("alice", [this] { decoder_->note("answer to alice"); });
  answers_.pass("bob", [this] { decoder_->note("answer to bob"); });
  end();
  EXPECT_THAT(notes_, ElementsAre("alice 1", "answer to bob", "answer to alice"));
}

TEST_F(DecodeThreadTest, an_answer_after_the_end_is_ignored) {
  begin();
  end();
  thread_.reset();
  answers_.pass("alice", [this] { decoder_->note("too late"); });
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(DecodeThreadTest, the_decoder_looks_at_what_it_keeps_after_each_item) {
  begin();
  push("alice", 1);
  push("bob", 2);
  end();
  // Once for the gate, too.
  EXPECT_GE(thread_->abandoned(), 3U);
}

TEST_F(DecodeThreadTest, an_exception_of_an_answer_is_fatal_and_the_rest_is_left) {
  begin();
  answers_.pass("alice", [] { throw std::logic_error("what nobody foresaw"); });
  push("bob", 1);
  push("alice", 2);
  end();
  EXPECT_THAT(runtime_.fatal_error(), Optional(testing::HasSubstr("what nobody foresaw")));
  EXPECT_THAT(notes_, testing::Not(testing::Contains("alice 2")));
}

TEST_F(DecodeThreadTest, messages_behind_a_decoder_that_waits_in_place_are_no_backlog) {
  begin();
  push("alice", 1);
  push("alice", 2);
  EXPECT_GE(thread_->backlog(), 2U);
  decoder_->waits_in_place_ = true;
  EXPECT_EQ(thread_->backlog(), 0U);
  end();
}

}  // namespace
}  // namespace skua::pipeline::decode_thread_test
