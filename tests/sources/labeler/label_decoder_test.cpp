#include "sources/labeler/label_decoder.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accounts/fake_accounts.hpp"
#include "support/made_labels.hpp"
#include "support/manual_clock.hpp"
#include "support/shared_data.hpp"
#include "transport/capture.hpp"
#include "transport/errc.hpp"

namespace skua::sources::label_decoder_test {
namespace {

using nlohmann::json;
using pipeline::AdmittedMessage;
using pipeline::DecoderServices;
using pipeline::DecodeThread;
using pipeline::IntakeCounters;
using test::labels_frame;
using test::made_label;
using test::signed_label;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kLabeler = "did:plc:labeler";
const std::string kAlice = "did:plc:alice";

atproto::SigningKey key(std::uint8_t secret, atproto::Curve curve = atproto::Curve::k256) {
  std::array<std::uint8_t, 32> bytes{};
  bytes.back() = secret;
  return *atproto::SigningKey::from_bytes(curve, bytes);
}

documents::Account labeler_with(const atproto::SigningKey& label_key) {
  return {.key = key(99).public_key(),
          .pds = "https://pds.example",
          .handle = "labeler.example",
          .label_key = label_key.public_key()};
}

/// A decoder whose events are kept.
class LabelDecoderTest : public testing::Test {
 protected:
  void begin(bool verifies = true, std::optional<LabelLimits> limits = std::nullopt) {
    begin_with(verifies ? &accounts_ : nullptr, std::move(limits));
  }
  void begin(accounts::AccountSource& accounts) { begin_with(&accounts, std::nullopt); }
  void begin_with(accounts::AccountSource* accounts, std::optional<LabelLimits> limits) {
    decoder_ = std::make_unique<DecodeThread>(
        DecoderServices{.out = {.runtime = runtime_,
                                .intake = intake_,
                                .in_flight = in_flight_,
                                .sink =
                                    [this](event::UnresolvedEvent event) {
                                      const std::scoped_lock lock(mutex_);
                                      events_.push_back(std::move(event));
                                    },
                                .groups = groups_}},
        [&](DecoderServices services) {
          return std::make_unique<LabelDecoder>(std::move(services.out), accounts,
                                                std::move(limits));
        });
  }
  void push(Bytes frame, std::int64_t seq, ErrorCode defect = {}) {
    AdmittedMessage message;
    message.defect = defect;
    message.seq = seq;
    message.ticket = *in_flight_.admit({.seq = seq, .bytes = frame.size()});
    message.bytes = std::move(frame);
    decoder_->push(std::move(message));
  }
  void push(std::int64_t seq, const std::vector<json>& labels) {
    push(labels_frame(seq, labels), seq);
  }
  /// Waits for all that was pushed.
  void end() {
    decoder_->close();
    decoder_->join();
  }
  const event::Label& label(std::size_t i) const {
    return std::get<event::LabelChange>(events_.at(i).body).label;
  }
  std::string error(std::size_t i) const {
    const auto* rejection = std::get_if<event::Rejection>(&events_.at(i).body);
    return rejection != nullptr ? rejection->error : "";
  }
  std::uint64_t dropped(verify::errc reason) const {
    return intake_.dropped.at(static_cast<std::size_t>(reason) - 1);
  }
  json spam(const std::string& cts = "2026-01-02T03:04:05Z") const {
    return made_label(kLabeler, kAlice, "spam", cts);
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{"", clock_, [](const std::string& what) { ADD_FAILURE() << what; }};
  IntakeCounters intake_;
  pipeline::InFlightList in_flight_{{}, nullptr};
  test::FakeAccounts accounts_;
  atproto::GroupSet groups_;
  std::mutex mutex_;
  std::vector<event::UnresolvedEvent> events_;
  std::unique_ptr<DecodeThread> decoder_;
};

TEST_F(LabelDecoderTest, a_message_that_is_too_large_is_a_dead_letter) {
  begin(false);
  push(labels_frame(7, {spam()}), 7, transport::errc::message_too_large);
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(error(0), "the message is over the size limit; this is its beginning");
  EXPECT_EQ(intake_.labels, 0U);
}

TEST_F(LabelDecoderTest, of_a_discovered_labeler_it_is_dropped) {
  begin(false, LabelLimits{[](std::string_view) { return true; }, 100});
  push(labels_frame(7, {spam()}), 7, transport::errc::message_too_large);
  end();
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(dropped(verify::errc::label_malformed), 1U);
  EXPECT_EQ(in_flight_.frames(), 0U);
}

TEST_F(LabelDecoderTest, labels_of_a_foreign_labeler_are_dropped_before_a_key_is_requested) {
  const auto signer = key(1);
  accounts_.knows(kLabeler, labeler_with(signer));
  groups_ = atproto::GroupSet::parse(std::to_string(atproto::account_group(kLabeler))).value();
  std::string foreign = "did:plc:other";
  while (groups_.has_account(foreign)) foreign += 'x';
  begin();
  const json other = made_label(foreign, kAlice, "rude");
  push(1, {other, signed_label(spam(), signer), other});
  push(2, {other});
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(label(0).val, "spam");
  EXPECT_EQ(dropped(verify::errc::foreign_account), 3U);
  EXPECT_EQ(in_flight_.unfinished(), 1U) << "the second frame has no events";
}

class LabelDecoderCurve : public LabelDecoderTest,
                          public testing::WithParamInterface<atproto::Curve> {};

TEST_P(LabelDecoderCurve, a_label_that_is_signed_by_its_src_is_an_event_of_its_lane) {
  const auto signer = key(1, GetParam());
  accounts_.knows(kLabeler, labeler_with(signer));
  begin();
  push(7, {signed_label(spam(), signer)});
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(label(0).val, "spam");
  EXPECT_EQ(events_[0].did, kLabeler);
  EXPECT_EQ(events_[0].type, event::RecordType::Metadata);
  EXPECT_EQ(events_[0].seq, 7);
  EXPECT_EQ(intake_.labels, 1U);
  EXPECT_EQ(intake_.verified, 1U);
}

INSTANTIATE_TEST_SUITE_P(Curves, LabelDecoderCurve,
                         testing::Values(atproto::Curve::k256, atproto::Curve::p256),
                         [](const auto& one) {
                           return one.param == atproto::Curve::k256 ? "k256" : "p256";
                         });

TEST_F(LabelDecoderTest, the_signature_covers_the_known_fields) {
  const auto signer = key(1);
  accounts_.knows(kLabeler, labeler_with(signer));
  begin();
  json negated = spam();
  negated["neg"] = true;
  negated = signed_label(negated, signer);
  negated["x"] = "added by a relay";
  json changed = signed_label(spam(), signer);
  changed["neg"] = true;
  json of_unknown = made_label(kLabeler, kAlice, "rude");
  of_unknown["x"] = "signed";
  push(1, {negated, changed, spam(), signed_label(of_unknown, signer)});
  end();
  ASSERT_EQ(events_.size(), 4U);
  EXPECT_TRUE(label(0).neg);
  EXPECT_EQ(intake_.unknown, 2U);
  for (const std::size_t i : {1U, 2U, 3U}) {
    EXPECT_THAT(error(i), HasSubstr("signature"));
    EXPECT_EQ(std::get<event::Rejection>(events_[i].body).what, "labels/" + std::to_string(i));
    EXPECT_FALSE(std::get<event::Rejection>(events_[i].body).payload.empty());
  }
  EXPECT_EQ(dropped(verify::errc::wrong_signature), 3U);
  EXPECT_EQ(intake_.verified, 1U);
}

TEST_F(LabelDecoderTest, an_absent_field_may_be_signed_as_null_and_false_is_signed) {
  const auto signer = key(1);
  accounts_.knows(kLabeler, labeler_with(signer));
  begin();
  json with_false = made_label(kLabeler, kAlice, "false");
  with_false["neg"] = false;
  json without_false = signed_label(with_false, signer);
  without_false.erase("neg");
  json with_null = made_label(kLabeler, kAlice, "null");
  with_null["cid"] = nullptr;
  json null_added = signed_label(made_label(kLabeler, kAlice, "null added"), signer);
  null_added["exp"] = nullptr;
  push(1, {signed_label(with_false, signer), without_false, signed_label(with_null, signer),
           null_added});
  end();
  ASSERT_EQ(events_.size(), 4U);
  EXPECT_EQ(error(0), "");
  EXPECT_THAT(error(1), HasSubstr("signature"));
  EXPECT_EQ(error(2), "");
  EXPECT_EQ(error(3), "");
}

TEST_F(LabelDecoderTest, labels_of_one_uri_and_value_are_folded_and_other_uris_are_not) {
  begin(false);
  push(1, {made_label(kLabeler, "https://a.example", "spam", "2026-01-02T03:04:05Z"),
           made_label(kLabeler, "https://a.example", "spam", "2026-01-02T03:04:06Z"),
           made_label(kLabeler, "https://a.example/", "spam"),
           made_label(kLabeler, "at://alice.example", "spam")});
  end();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_EQ(label(0).cts, parse_datetime("2026-01-02T03:04:06Z")->instant);
  EXPECT_EQ(std::get<event::UriRef>(label(1).subject).uri, "https://a.example/");
}

TEST_F(LabelDecoderTest, a_labeler_speaks_for_itself_alone) {
  accounts_.knows(kLabeler, labeler_with(key(1)));
  accounts_.knows("did:plc:other", labeler_with(key(2)));
  begin();
  push(1, {signed_label(made_label("did:plc:other", kAlice, "spam"), key(1)),
           signed_label(made_label("did:plc:other", kAlice, "rude"), key(2)),
           signed_label(made_label("did:plc:nobody", kAlice, "spam"), key(1))});
  end();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_THAT(error(0), HasSubstr("signature"));
  EXPECT_EQ(label(1).val, "rude");
  EXPECT_THAT(error(2), HasSubstr("#atproto_label"));
  EXPECT_EQ(dropped(verify::errc::no_did_document), 1U);
}

TEST_F(LabelDecoderTest, an_account_without_a_label_key_does_not_label) {
  documents::Account account = labeler_with(key(1));
  account.label_key.reset();
  accounts_.knows(kLabeler, account);
  begin();
  push(1, {signed_label(spam(), key(99))});
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(error(0), HasSubstr("#atproto_label"));
}

TEST_F(LabelDecoderTest, a_key_that_was_changed_is_asked_for_once_and_a_former_one_counts) {
  accounts_.knows(kLabeler, labeler_with(key(1)));
  begin();
  push(1, {signed_label(spam(), key(1))});
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kLabeler));
  accounts_.hold(kLabeler);
  push(2, {signed_label(spam("2026-01-02T03:04:06Z"), key(2))});
  ASSERT_TRUE(accounts_.wait_until_asked("recent " + kLabeler));
  accounts_.knows(kLabeler, labeler_with(key(2)));
  accounts_.had(kLabeler, {key(1).public_key()});
  accounts_.stop_holding(kLabeler);
  ASSERT_TRUE(accounts_.answer(kLabeler));
  push(3, {signed_label(spam("2026-01-02T03:04:07Z"), key(2))});
  push(4, {signed_label(spam("2026-01-02T03:04:02Z"), key(1))});
  ASSERT_TRUE(accounts_.wait_until_asked("former " + kLabeler));
  end();
  ASSERT_EQ(events_.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(error(i), "") << i;
  EXPECT_EQ(accounts_.asked("known " + kLabeler), 1U);
  EXPECT_EQ(accounts_.asked("former " + kLabeler), 1U);
  EXPECT_EQ(intake_.verified, 4U);
  EXPECT_EQ(intake_.former_keys, 1U);
}

TEST_F(LabelDecoderTest, a_label_may_be_signed_by_any_key_around_its_time) {
  accounts_.knows(kLabeler, labeler_with(key(3)));
  accounts_.had(kLabeler, {key(3).public_key(), key(2).public_key(), key(1).public_key()});
  begin();
  push(1, {signed_label(spam(), key(2))});
  push(2, {signed_label(spam("2026-01-02T03:04:06Z"), key(1))});
  push(3, {signed_label(spam("2026-01-02T03:04:07Z"), key(4))});
  end();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_EQ(error(0), "");
  EXPECT_EQ(error(1), "");
  EXPECT_THAT(error(2), HasSubstr("signature"));
  EXPECT_EQ(intake_.former_keys, 2U);
}

TEST_F(LabelDecoderTest, a_labeler_needs_neither_a_repository_nor_a_host) {
  accounts_.knows(kLabeler, documents::Account{.did = kLabeler, .label_key = key(1).public_key()});
  begin();
  push(1, {signed_label(spam(), key(1))});
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(error(0), "");
  EXPECT_EQ(intake_.verified, 1U);
}

/// ../shared/data/reports: labelers, some of them without a repository.
TEST_F(LabelDecoderTest, the_labelers_of_a_report_are_all_valid) {
  SKUA_NEED_SHARED();
  const auto folder = *test::shared_dir() / "data/reports";
  const auto file = folder / "labeler-without-repository.frames";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
  accounts::DocumentAccounts documents(folder / "labeler-without-repository.did-docs.json");
  EXPECT_EQ(documents.problem(), "");
  begin(documents);
  transport::CaptureReader capture(file);
  std::int64_t seq = 0;
  for (auto next = capture.next(); next && *next; next = capture.next()) {
    push(Bytes((*next)->begin(), (*next)->end()), ++seq);
  }
  end();
  ASSERT_EQ(events_.size(), 5U);
  for (std::size_t i = 0; i < events_.size(); ++i) EXPECT_EQ(error(i), "") << i;
  EXPECT_EQ(intake_.verified, 5U);
}

TEST_F(LabelDecoderTest, what_waits_for_a_key_at_the_end_is_left) {
  accounts_.knows(kLabeler, labeler_with(key(1)));
  accounts_.hold(kLabeler);
  begin();
  push(1, {signed_label(spam(), key(1))});
  push(2, {});
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kLabeler));
  end();
  EXPECT_EQ(decoder_->abandoned(), 1U);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(in_flight_.unfinished(), 1U) << "the cursor stays before it";
  EXPECT_TRUE(accounts_.answer(kLabeler)) << "an answer after the end does no harm";
}

TEST_F(LabelDecoderTest, without_verification_nobody_is_asked) {
  begin(false);
  push(1, {spam()});
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(label(0).val, "spam");
  EXPECT_EQ(accounts_.asked("known " + kLabeler), 0U);
}

TEST_F(LabelDecoderTest, of_labels_of_one_key_in_one_frame_the_newest_is_left) {
  begin(false);
  json negated = spam();
  negated["neg"] = true;
  push(1, {spam("2026-01-02T03:04:06Z"), negated, made_label(kLabeler, kAlice, "rude"), spam()});
  push(2, {spam(), negated});
  end();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_EQ(label(0).cts, parse_datetime("2026-01-02T03:04:06Z")->instant);
  EXPECT_EQ(label(1).val, "rude");
  EXPECT_TRUE(label(2).neg) << "the later one of equal times";
}

TEST_F(LabelDecoderTest, a_bad_label_is_a_dead_letter_alone_and_a_bad_frame_whole) {
  begin(false);
  json bad = spam();
  bad["ver"] = 2;
  push(1, {bad, spam()});
  push(Bytes{0xff}, 0);
  push(3, {});
  end();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_THAT(error(0), HasSubstr("ver"));
  EXPECT_EQ(events_[0].did, kLabeler);
  EXPECT_EQ(label(1).val, "spam");
  EXPECT_EQ(std::get<event::Rejection>(events_[2].body).what, "frame");
  EXPECT_EQ(intake_.bad_ops, 1U);
  EXPECT_EQ(intake_.bad_frames, 1U);
  EXPECT_EQ(in_flight_.unfinished(), 2U) << "a frame without labels has finished";
}

TEST_F(LabelDecoderTest, a_discovered_labeler_speaks_for_its_accounts_and_makes_no_dead_letters) {
  accounts_.knows(kLabeler, labeler_with(key(1)));
  accounts_.knows("did:plc:other", labeler_with(key(2)));
  begin(true, LabelLimits{[](std::string_view src) { return src == kLabeler; }});
  json bad = spam();
  bad["ver"] = 2;
  push(1, {signed_label(made_label("did:plc:other", kAlice, "spam"), key(2)),
           signed_label(spam(), key(1)), signed_label(made_label(kLabeler, kAlice, "rude"), key(3)),
           bad});
  push(Bytes{0xff}, 0);
  end();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(label(0).val, "spam");
  EXPECT_EQ(dropped(verify::errc::label_of_other), 1U);
  EXPECT_EQ(dropped(verify::errc::wrong_signature), 1U);
  EXPECT_EQ(dropped(verify::errc::label_malformed), 2U);
  EXPECT_EQ(intake_.bad_ops + intake_.bad_frames, 0U);
  EXPECT_EQ(in_flight_.unfinished(), 1U) << "the malformed message has finished";
}

TEST_F(LabelDecoderTest, a_discovered_labeler_keeps_to_its_rate_and_a_stop_does_not_wait) {
  begin(false, LabelLimits{[](std::string_view /*src*/) { return true; }, 0.001});
  push(1, {spam(), made_label(kLabeler, kAlice, "rude")});
  push(2, {spam("2026-01-02T03:04:06Z")});
  // The first message uses up the rate of 2,000 s: only a stop ends the wait.
  end();
  EXPECT_EQ(events_.size(), 3U);
}

}  // namespace
}  // namespace skua::sources::label_decoder_test
