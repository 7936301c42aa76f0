#include "pipeline/message_decoder.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "sources/tap/tap_source.hpp"
#include "support/manual_clock.hpp"
#include "transport/errc.hpp"

namespace skua::sources::message_decoder_test {
namespace {

using namespace std::chrono_literals;
using pipeline::AdmittedMessage;
using pipeline::DecoderServices;
using pipeline::DecodeThread;
using pipeline::IntakeCounters;
using pipeline::MessageDecoder;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr const char* kDid = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr const char* kCid = "bafyreid42et2grtcpbhhlz4g2pdhoclnvblfkjr6bw5ztqa3qeq6nmqzmm";

/// A decoder whose events are kept. The test decides when they are durable.
class MessageDecoderTest : public testing::Test {
 protected:
  void begin(std::unique_ptr<pipeline::MessageReader> reader) {
    decoder_ = std::make_unique<DecodeThread>(
        DecoderServices{.out = {.runtime = runtime_,
                                .intake = intake_,
                                .in_flight = in_flight_,
                                .sink =
                                    [this](event::UnresolvedEvent event) {
                                      const std::scoped_lock lock(mutex_);
                                      events_.push_back(std::move(event));
                                    },
                                .filter = filter_,
                                .gaps = gaps_}},
        [&](DecoderServices services) {
          return std::make_unique<MessageDecoder>(std::move(reader), std::move(services.out));
        });
  }
  void push(const std::string& text, std::int64_t seq, std::string did = {},
            ErrorCode defect = {}) {
    AdmittedMessage message;
    message.defect = defect;
    message.bytes = Bytes(text.begin(), text.end());
    message.seq = seq;
    message.did = dids_.emplace_back(std::move(did));
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
  postgres::Runtime runtime_{"", clock_, [](const std::string& what) { ADD_FAILURE() << what; }};
  /// Outlive the messages that point to them.
  std::deque<std::string> dids_;
  IntakeCounters intake_;
  const filter::CurrentFilter* filter_ = nullptr;
  pipeline::PendingHeads heads_;
  pipeline::PendingHeads* gaps_ = &heads_;
  std::vector<pipeline::InFlightList::Ticket> finished_;
  pipeline::InFlightList in_flight_{
      {},
      [this](auto tickets) { finished_.insert(finished_.end(), tickets.begin(), tickets.end()); }};
  std::mutex mutex_;
  std::vector<event::UnresolvedEvent> events_;
  std::unique_ptr<DecodeThread> decoder_;
};

TEST_F(MessageDecoderTest, a_change_gets_its_place_for_tombstones_and_its_lane) {
  begin(std::make_unique<TapReader>());
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
  begin(std::make_unique<TapReader>());
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
  begin(std::make_unique<TapReader>());
  push(R"({"id":8,"type":"label","label":{}})", 1);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_EQ(intake_.unknown, 1U);
}

TEST_F(MessageDecoderTest, what_is_no_message_is_a_dead_letter) {
  begin(std::make_unique<TapReader>());
  push("no JSON", 1);
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(std::get<event::Rejection>(events_[0].body).payload,
            Bytes({'n', 'o', ' ', 'J', 'S', 'O', 'N'}));
  EXPECT_EQ(intake_.bad_frames, 1U);
}

TEST_F(MessageDecoderTest, what_is_too_large_is_a_dead_letter_of_its_account) {
  begin(std::make_unique<TapReader>());
  const std::string large = tap(true, "3l2s5xxv2ze2c", R"("action":"delete")");
  push(large, 1, kDid, transport::errc::message_too_large);
  end();
  ASSERT_EQ(events_.size(), 1U);
  const auto& rejection = std::get<event::Rejection>(events_[0].body);
  EXPECT_EQ(events_[0].did, kDid);
  EXPECT_EQ(rejection.payload, Bytes(large.begin(), large.end()));
  EXPECT_EQ(rejection.error, "the message is over the size limit; this is its beginning");
  EXPECT_EQ(intake_.bad_frames, 1U);
  EXPECT_EQ(intake_.ops, 0U);
  EXPECT_THAT(heads_.collect_gaps(100), ElementsAre(Field(&tables::Gap::did, kDid)));
}

/// A Jetstream's #sync in its two forms.
class MessageDecoderSync : public MessageDecoderTest,
                           public testing::WithParamInterface<const char*> {};

TEST_P(MessageDecoderSync, makes_the_repository_wait_for_a_resync) {
  begin(std::make_unique<JetstreamReader>());
  push(GetParam(), 77, kDid);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(intake_.syncs, 1U);
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_THAT(heads_.collect_gaps(100), ElementsAre(Field(&tables::Gap::did, kDid)));
}

TEST_P(MessageDecoderSync, is_counted_where_nothing_is_downloaded) {
  gaps_ = nullptr;
  begin(std::make_unique<JetstreamReader>());
  push(GetParam(), 77, kDid);
  end();
  EXPECT_EQ(intake_.syncs, 1U);
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_THAT(heads_.collect_gaps(100), IsEmpty());
}

TEST_P(MessageDecoderSync, of_an_excluded_account_is_left_out) {
  filter::CurrentFilter filter;
  filter_ = &filter;
  filter.set(
      std::make_shared<const tables::Filter>(2, tables::FilterContent{{}, {"did:plc:other"}}));
  begin(std::make_unique<JetstreamReader>());
  push(GetParam(), 77, kDid);
  end();
  EXPECT_THAT(heads_.collect_gaps(100), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Versions, MessageDecoderSync,
    testing::Values(
        R"({"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#sync",)"
        R"("seq":77,"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","time":"2026-01-01T00:00:00Z",)"
        R"("sync":{"rev":"3l2s5xxv2ze2c"}}})",
        R"({"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","time_us":77,"kind":"sync",)"
        R"("sync":{"rev":"3l2s5xxv2ze2c"}})"));

/// A create without a record, and its result.
struct NoRecord {
  const char* name;
  const char* fields;
  enum class Becomes {
    /// A dead letter, and the repository is downloaded again: there is a record that the Tap could
    /// not decode.
    Gap,
    Letter,
    /// A row that violates its lexicon, as that of a relay.
    Row,
  } becomes;
};
using Becomes = NoRecord::Becomes;

class MessageDecoderNoRecord : public MessageDecoderTest,
                               public testing::WithParamInterface<NoRecord> {};

TEST_P(MessageDecoderNoRecord, is_a_dead_letter_or_violates_its_lexicon) {
  for (const std::string action : {"create", "update"}) {
    begin(std::make_unique<TapReader>());
    push(tap(true, "3l2s5xxv2ze2c", R"("action":")" + action + '"' + GetParam().fields), 50, kDid);
    end();
  }
  ASSERT_EQ(events_.size(), 2U);
  const bool is_row = GetParam().becomes == Becomes::Row;
  for (const auto& event : events_) {
    if (is_row) {
      const auto& change = std::get<event::RecordChange>(event.body);
      EXPECT_TRUE(change.record.invalid_reason.has_value());
      continue;
    }
    const auto& rejection = std::get<event::Rejection>(event.body);
    EXPECT_EQ(rejection.what, "app.bsky.feed.like/3l2s5xxv2ze2c");
    EXPECT_NE(rejection.operation, std::nullopt);
  }
  EXPECT_EQ(intake_.bad_ops, is_row ? 0U : 2U);
  EXPECT_EQ(heads_.collect_gaps(100).size(), GetParam().becomes == Becomes::Gap ? 1U : 0U);
}

TEST_P(MessageDecoderNoRecord, of_an_excluded_collection_is_no_gap) {
  filter::CurrentFilter filter;
  filter_ = &filter;
  filter.set(
      std::make_shared<const tables::Filter>(2, tables::FilterContent{{"app.bsky.feed.post"}, {}}));
  begin(std::make_unique<TapReader>());
  push(tap(true, "3l2s5xxv2ze2c", std::string(R"("action":"create")") + GetParam().fields), 50,
       kDid);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_THAT(heads_.collect_gaps(100), IsEmpty());
}

#define SKUA_CID ",\"cid\":\"bafyreid42et2grtcpbhhlz4g2pdhoclnvblfkjr6bw5ztqa3qeq6nmqzmm\""
INSTANTIATE_TEST_SUITE_P(
    Table, MessageDecoderNoRecord,
    testing::Values(NoRecord{"absent", SKUA_CID, Becomes::Gap},
                    NoRecord{"null", SKUA_CID ",\"record\":null", Becomes::Gap},
                    NoRecord{"absent_with_its_cid", "", Becomes::Gap},
                    NoRecord{"number", SKUA_CID ",\"record\":7", Becomes::Row},
                    NoRecord{"text", SKUA_CID ",\"record\":\"{}\"", Becomes::Row},
                    NoRecord{"truth", SKUA_CID ",\"record\":true", Becomes::Row},
                    NoRecord{"list", SKUA_CID ",\"record\":[{}]", Becomes::Row},
                    NoRecord{"no_cid", ",\"record\":{}", Becomes::Letter},
                    NoRecord{"wrong_cid", ",\"cid\":5,\"record\":{}", Becomes::Letter}),
    [](const auto& test) { return test.param.name; });
#undef SKUA_CID

/// A Tap's message about an account, and the expected event.
struct Said {
  const char* name;
  const char* fields;
  bool active;
  const char* status;
  bool purge;
};

class MessageDecoderStatus : public MessageDecoderTest, public testing::WithParamInterface<Said> {};

TEST_P(MessageDecoderStatus, of_a_tap_decides_what_is_shown_and_kept) {
  begin(std::make_unique<TapReader>());
  push(R"({"id":9,"type":"identity","identity":{"did":")" + std::string(kDid) +
           R"(","handle":"a.example",)" + GetParam().fields + "}}",
       1, kDid);
  end();
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(std::get<event::IdentityChange>(events_[0].body).handle, "a.example");
  const auto& account = std::get<event::AccountChange>(events_[1].body);
  EXPECT_EQ(account.active, GetParam().active);
  EXPECT_EQ(account.status, GetParam().status);
  EXPECT_EQ(account.purge, GetParam().purge);
  EXPECT_THAT(heads_.collect_gaps(100), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, MessageDecoderStatus,
    testing::Values(
        Said{"active", R"("is_active":true,"status":"active")", true, "", false},
        Said{"active_without_status", R"("is_active":true)", true, "", false},
        Said{"active_and_null", R"("is_active":true,"status":null)", true, "", false},
        Said{"deactivated", R"("is_active":false,"status":"deactivated")", false, "deactivated",
             false},
        Said{"suspended", R"("is_active":false,"status":"suspended")", false, "suspended", false},
        Said{"takendown", R"("is_active":false,"status":"takendown")", false, "takendown", false},
        Said{"deleted", R"("is_active":false,"status":"deleted")", false, "deleted", true},
        Said{"unknown", R"("is_active":false,"status":"asleep")", false, "asleep", false},
        Said{"inactive_without_status", R"("is_active":false)", false, "", false},
        // It is active: nothing is removed.
        Said{"active_and_deleted", R"("is_active":true,"status":"deleted")", true, "deleted",
             false},
        // A status that the flag contradicts is no reason to show the account.
        Said{"inactive_and_active", R"("is_active":false,"status":"active")", false, "", false}),
    [](const auto& test) { return test.param.name; });

TEST_F(MessageDecoderTest, a_status_that_cannot_be_read_is_a_dead_letter_beside_the_handle) {
  for (const char* fields : {R"("status":"deactivated")", R"("is_active":"no","status":"deleted")",
                             R"("is_active":false,"status":7)"}) {
    begin(std::make_unique<TapReader>());
    push(R"({"id":9,"type":"identity","identity":{"did":")" + std::string(kDid) +
             R"(","handle":"a.example",)" + fields + "}}",
         1, kDid);
    end();
  }
  ASSERT_EQ(events_.size(), 6U);
  for (std::size_t i = 0; i < 6; i += 2) {
    EXPECT_TRUE(std::holds_alternative<event::IdentityChange>(events_[i].body));
    EXPECT_TRUE(std::holds_alternative<event::Rejection>(events_[i + 1].body));
  }
}

TEST_F(MessageDecoderTest, a_revision_of_the_future_is_dropped_and_counted) {
  begin(std::make_unique<TapReader>());
  const auto future = atproto::Tid::from_time(clock_.now() + 1h, 0).to_string();
  push(tap(true, future, R"("action":"delete")"), 1, kDid);
  // The decoder waits for a message that shows that our clock is right.
  push(tap(true, "3l2s5xxv2ze2c", R"("action":"delete")"), 2, "did:plc:other");
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].seq, 2);
  EXPECT_EQ(finished_.size(), 1U);
  EXPECT_EQ(intake_.dropped[static_cast<std::size_t>(verify::errc::future_rev) - 1], 1U);
}

TEST_F(MessageDecoderTest, of_a_clock_that_is_behind_nothing_is_dropped) {
  begin(std::make_unique<TapReader>());
  const auto rev = atproto::Tid::from_time(clock_.now() + 1h, 0).to_string();
  for (int i = 1; i <= 10; ++i) {
    push(tap(true, rev, R"("action":"delete")"), i, "did:plc:" + std::to_string(i));
  }
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (intake_.frames_held < 10 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(intake_.frames_held, 10U);
  EXPECT_EQ(in_flight_.frames(), 10U);
  clock_.advance(1h);
  while (intake_.frames_held > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  end();
  EXPECT_EQ(decoder_->abandoned(), 0U);
  EXPECT_EQ(events_.size(), 10U);
}

TEST_F(MessageDecoderTest, a_deleted_account_is_purged_and_others_are_hidden) {
  begin(std::make_unique<TapReader>());
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

TEST_F(MessageDecoderTest, a_jetstreams_word_of_an_account_counts_as_a_relays) {
  begin(std::make_unique<JetstreamReader>());
  for (const std::string said :
       {R"("active":false,"status":"deleted")", R"("active":false,"status":"deactivated")",
        R"("active":false,"status":"takendown")", R"("active":true)",
        // An active account is not deleted, whatever its `status` is.
        R"("active":true,"status":"deleted")"}) {
    push(R"({"did":")" + std::string(kDid) +
             R"(","time_us":1000,"kind":"account","account":{"did":")" + kDid +
             R"(","seq":1,"time":"2026-01-01T00:00:00Z",)" + said + "}}",
         1000);
  }
  end();
  std::vector<std::pair<bool, bool>> said;
  for (const auto& event : events_) {
    const auto& account = std::get<event::AccountChange>(event.body);
    said.emplace_back(account.active, account.purge);
  }
  EXPECT_THAT(said,
              ElementsAre(std::pair(false, true), std::pair(false, false), std::pair(false, false),
                          std::pair(true, false), std::pair(true, false)));
}

TEST_F(MessageDecoderTest, a_record_that_json_has_changed_is_stored_and_counted) {
  begin(std::make_unique<JetstreamReader>());
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

/// A message, and what the filter {collection app.bsky.feed.like, did kDid} makes of it.
TEST_F(MessageDecoderTest, what_the_filter_leaves_out_is_finished_and_counted) {
  filter::CurrentFilter filter;
  filter_ = &filter;
  begin(std::make_unique<TapReader>());
  const std::string like = tap(true, "3l2s5xxv2ze2c", R"("action":"delete")");
  std::string post = like;
  post.replace(post.find("feed.like"), 9, "feed.post");
  std::string poison = tap(true, "3l2s5xxv2ze2c", R"("action":"create","record":[1])");
  poison.replace(poison.find("feed.like"), 9, "feed.post");
  filter.set(std::make_shared<const tables::Filter>(
      2, tables::FilterContent{{"app.bsky.feed.like"}, {kDid}}));
  push(like, 1, kDid);
  push(post, 2, kDid);
  push(poison, 3, kDid);
  push("no JSON", 4, "did:plc:other");
  push(like, 5, "did:plc:other");
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(std::get<event::RecordChange>(events_[0].body).collection, "app.bsky.feed.like");
  EXPECT_EQ(intake_.filtered, 2U);
  EXPECT_EQ(intake_.filtered_messages, 2U);
  EXPECT_EQ(intake_.bad_frames, 0U);
  EXPECT_EQ(intake_.bad_ops, 0U);
  EXPECT_EQ(finished_.size(), 4U);
}

TEST_F(MessageDecoderTest, a_filter_that_changes_holds_from_the_next_message_on) {
  filter::CurrentFilter filter;
  filter_ = &filter;
  begin(std::make_unique<TapReader>());
  const std::string like = tap(true, "3l2s5xxv2ze2c", R"("action":"delete")");
  push(like, 1, kDid);
  decoder_->close();
  decoder_->join();
  filter.set(
      std::make_shared<const tables::Filter>(2, tables::FilterContent{{"app.bsky.feed.post"}, {}}));
  begin(std::make_unique<TapReader>());
  push(like, 2, kDid);
  end();
  EXPECT_EQ(events_.size(), 1U);
  EXPECT_EQ(intake_.filtered, 1U);
}

}  // namespace
}  // namespace skua::sources::message_decoder_test
