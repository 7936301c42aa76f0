#include "event/label_frame.hpp"

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "event/errc.hpp"
#include "repo/dag_cbor.hpp"
#include "support/made_labels.hpp"
#include "support/shared_data.hpp"
#include "support/test_vectors.hpp"

namespace skua::event::label_frame_test {
namespace {

using nlohmann::json;
using test::dag_cbor_of;
using test::labels_frame;
using test::made_label;

const std::string kLabeler = "did:plc:labeler";
const std::string kAlice = "did:plc:alice";
const std::string kPostUri = "at://" + kAlice + "/app.bsky.feed.post/3l2s5xxv2ze2c";
const std::string kCid = "bafyreid42et2grtcpbhhlz4g2pdhoclnvblfkjr6bw5ztqa3qeq6nmqzmm";

DecodedLabelFrame decoded(const Bytes& bytes) {
  LabelFrameDecoder decoder;
  DecodedLabelFrame frame;
  const auto result = decoder.decode(bytes, frame);
  EXPECT_TRUE(result) << result.error().message();
  return frame;
}

Bytes frame_of(const json& header, const json& body) {
  Bytes frame = dag_cbor_of(header);
  const Bytes rest = dag_cbor_of(body);
  frame.insert(frame.end(), rest.begin(), rest.end());
  return frame;
}

json post_label() {
  json label = made_label(kLabeler, kPostUri, "spam");
  label["cid"] = kCid;
  label["neg"] = true;
  label["exp"] = "2027-01-02T03:04:05Z";
  label["sig"] = json::binary({1, 2, 3});
  return label;
}

TEST(LabelFrame, gives_all_fields_of_a_label_on_a_record) {
  const auto frame = decoded(labels_frame(42, {post_label()}));
  EXPECT_EQ(frame.type, DecodedLabelFrame::Type::Labels);
  EXPECT_EQ(frame.seq, 42);
  ASSERT_EQ(frame.labels.size(), 1U);
  const LabelEntry& entry = frame.labels.front();
  EXPECT_EQ(entry.error, std::nullopt);
  EXPECT_FALSE(entry.has_unknown_fields);
  EXPECT_EQ(entry.block, dag_cbor_of(post_label()));
  EXPECT_EQ(entry.label.src, kLabeler);
  const auto& record = std::get<records::RecordRef>(entry.label.subject);
  EXPECT_EQ(record.did, kAlice);
  EXPECT_EQ(record.collection, "app.bsky.feed.post");
  EXPECT_EQ(record.rkey, "3l2s5xxv2ze2c");
  ASSERT_TRUE(entry.label.cid);
  EXPECT_EQ(entry.label.cid->to_string(), kCid);
  EXPECT_EQ(entry.label.val, "spam");
  EXPECT_TRUE(entry.label.neg);
  EXPECT_EQ(entry.label.cts, parse_datetime("2026-01-02T03:04:05.678Z")->instant);
  EXPECT_EQ(entry.label.exp, parse_datetime("2027-01-02T03:04:05Z")->instant);
  EXPECT_EQ(entry.label.sig.size(), 3U);
}

TEST(LabelFrame, views_outlive_the_frame_and_a_move) {
  LabelEntry kept;
  {
    auto frame = decoded(labels_frame(1, {made_label("did:a:b", "did:a:c", "x")}));
    kept = std::move(frame.labels.front());
  }
  EXPECT_EQ(kept.label.src, "did:a:b");
  EXPECT_EQ(std::get<records::ActorRef>(kept.label.subject).did, "did:a:c");
  EXPECT_EQ(kept.label.val, "x");
}

struct Change {
  const char* name;
  std::function<void(json&)> change;
  std::optional<errc> error;
  friend std::ostream& operator<<(std::ostream& out, const Change& each) {
    return out << each.name;
  }
};

class LabelFields : public testing::TestWithParam<Change> {};

TEST_P(LabelFields, are_taken_or_say_why) {
  json label = post_label();
  GetParam().change(label);
  const auto frame = decoded(labels_frame(1, {label, post_label()}));
  ASSERT_EQ(frame.labels.size(), 2U);
  EXPECT_EQ(frame.labels[0].error, GetParam().error);
  EXPECT_EQ(frame.labels[0].block, dag_cbor_of(label));
  EXPECT_EQ(frame.labels[1].error, std::nullopt) << "its sibling is untouched";
}

Change set(const char* name, const char* field, const json& value, std::optional<errc> error = {}) {
  return {name, [field, value](json& label) { label[field] = value; }, error};
}
Change without(const char* name, const char* field, std::optional<errc> error = {}) {
  return {name, [field](json& label) { label.erase(field); }, error};
}

INSTANTIATE_TEST_SUITE_P(
    Table, LabelFields,
    testing::Values(
        without("without_ver", "ver"), set("null_ver", "ver", nullptr),
        set("ver_2", "ver", 2, errc::label_bad_version),
        set("ver_of_text", "ver", "1", errc::label_bad_version),
        without("without_src", "src", errc::label_bad_src),
        set("src_no_did", "src", "labeler.example", errc::label_bad_src),
        set("account", "uri", kAlice), set("account_as_uri", "uri", "at://" + kAlice),
        without("without_uri", "uri", errc::label_bad_uri),
        set("uri_without_scheme", "uri", "example.com", errc::label_bad_uri),
        set("uri_with_a_blank", "uri", "https://example.com/a b", errc::label_bad_uri),
        set("uri_with_nul", "uri", std::string("https://a\0b", 11), errc::label_bad_uri),
        set("uri_of_number", "uri", 7, errc::label_bad_uri),
        set("longest_uri", "uri", "https://" + std::string(8184, 'u')),
        set("uri_too_long", "uri", "https://" + std::string(8185, 'u'), errc::label_bad_uri),
        without("without_cid", "cid"), set("null_cid", "cid", nullptr),
        set("cid_no_cid", "cid", "bafyother", errc::label_bad_cid),
        set("cid_of_a_blob", "cid", atproto::Cid::of(as_bytes("x"), atproto::Cid::kRaw).to_string(),
            errc::label_bad_cid),
        set("longest_val", "val", std::string(128, 'v')),
        set("val_too_long", "val", std::string(129, 'v'), errc::label_bad_val),
        set("empty_val", "val", "", errc::label_bad_val),
        set("val_with_nul", "val", std::string("a\0b", 3), errc::label_bad_val),
        without("without_val", "val", errc::label_bad_val), without("without_neg", "neg"),
        set("null_neg", "neg", nullptr), set("neg_of_number", "neg", 1, errc::label_bad_neg),
        without("without_cts", "cts", errc::label_bad_cts),
        set("cts_no_time", "cts", "yesterday", errc::label_bad_cts), without("without_exp", "exp"),
        set("null_exp", "exp", nullptr), set("exp_no_time", "exp", 5, errc::label_bad_exp),
        without("without_sig", "sig"), set("sig_of_text", "sig", "AQID", errc::label_bad_sig)),
    [](const auto& one) { return std::string(one.param.name); });

TEST(LabelFrame, a_label_that_is_no_map_is_rejected_alone) {
  const auto frame = decoded(labels_frame(1, {json("label"), json(7), post_label()}));
  ASSERT_EQ(frame.labels.size(), 3U);
  EXPECT_EQ(frame.labels[0].error, errc::label_malformed);
  EXPECT_EQ(frame.labels[1].error, errc::label_malformed);
  EXPECT_EQ(frame.labels[2].error, std::nullopt);
}

TEST(LabelFrame, unknown_fields_are_noticed_and_do_no_harm) {
  json label = post_label();
  label["reason"] = {{"by", "a person"}};
  const auto frame = decoded(labels_frame(1, {label}));
  ASSERT_EQ(frame.labels.size(), 1U);
  EXPECT_EQ(frame.labels[0].error, std::nullopt);
  EXPECT_TRUE(frame.labels[0].has_unknown_fields);
}

class LabelledUri : public testing::TestWithParam<const char*> {};

TEST_P(LabelledUri, is_a_text_if_it_names_no_account_and_no_record_by_did) {
  json label = post_label();
  label["uri"] = GetParam();
  const auto frame = decoded(labels_frame(1, {label}));
  ASSERT_EQ(frame.labels.size(), 1U);
  ASSERT_EQ(frame.labels[0].error, std::nullopt);
  EXPECT_EQ(std::get<UriRef>(frame.labels[0].label.subject).uri, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Forms, LabelledUri,
    testing::Values("https://example.com/page?a=b#c", "http://[::1]:80/", "mailto:a@example.com",
                    "dns:example.com", "at://alice.example",
                    "at://alice.example/app.bsky.feed.post/x",
                    "at://did:plc:alice/app.bsky.feed.post", "at://did:plc:alice/",
                    "at://did:plc:alice/app.bsky.feed.post/x#part", "did:PLC:alice",
                    "https://bsky.app/profile/alice.example/post/x", "https://\u4f8b.example"));

TEST(LabelFrame, what_is_signed_is_all_known_fields_but_the_signature) {
  json label = post_label();
  const json whole = label;
  label.erase("sig");
  const std::vector<Bytes> expected = {dag_cbor_of(label)};
  EXPECT_EQ(signed_forms_of_label(dag_cbor_of(whole)), expected);
  EXPECT_EQ(signed_forms_of_label(dag_cbor_of(label)), expected);
  for (const json& added : {json("by a relay"), json(nullptr), json{{"by", "a person"}}}) {
    // Shorter than `sig`, between the others, and after all of them.
    for (const char* field : {"a", "reason", "$type", "sign", "zzzzzzzzzz"}) {
      json changed = whole;
      changed[field] = added;
      EXPECT_EQ(signed_forms_of_label(dag_cbor_of(changed)), expected) << field << added;
    }
  }
}

TEST(LabelFrame, a_field_that_is_absent_null_or_false_is_signed_as_it_was_sent) {
  json label = made_label(kLabeler, kPostUri, "spam");
  const Bytes without = dag_cbor_of(label);
  label["neg"] = false;
  EXPECT_EQ(signed_forms_of_label(dag_cbor_of(label)), std::vector<Bytes>{dag_cbor_of(label)});
  label["neg"] = nullptr;
  label["cid"] = nullptr;
  // A labeler may have signed null, too.
  EXPECT_EQ(signed_forms_of_label(dag_cbor_of(label)),
            (std::vector<Bytes>{without, dag_cbor_of(label)}));
  const Bytes with_nulls = dag_cbor_of(label);
  label["sig"] = nullptr;
  EXPECT_EQ(signed_forms_of_label(dag_cbor_of(label)), (std::vector<Bytes>{without, with_nulls}));
}

TEST(LabelFrame, info_error_and_unknown_messages) {
  const auto info = decoded(
      frame_of({{"op", 1}, {"t", "#info"}}, {{"name", "OutdatedCursor"}, {"message", "old"}}));
  EXPECT_EQ(info.type, DecodedLabelFrame::Type::Info);
  EXPECT_EQ(info.name, "OutdatedCursor");
  EXPECT_EQ(info.message, "old");
  const auto error = decoded(frame_of({{"op", -1}}, {{"error", "FutureCursor"}}));
  EXPECT_EQ(error.type, DecodedLabelFrame::Type::Error);
  EXPECT_EQ(error.name, "FutureCursor");
  const auto unknown = decoded(frame_of({{"op", 1}, {"t", "#news"}}, {{"seq", 9}}));
  EXPECT_EQ(unknown.type, DecodedLabelFrame::Type::Unknown);
  EXPECT_EQ(unknown.seq, 9);
}

struct BadFrame {
  const char* name;
  Bytes bytes;
  errc error;
};

class BadLabelFrame : public testing::TestWithParam<BadFrame> {};

TEST_P(BadLabelFrame, is_refused_whole) {
  LabelFrameDecoder decoder;
  DecodedLabelFrame frame;
  const auto result = decoder.decode(GetParam().bytes, frame);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), GetParam().error);
}

const json kLabels = {{"op", 1}, {"t", "#labels"}};
INSTANTIATE_TEST_SUITE_P(
    Table, BadLabelFrame,
    testing::Values(
        BadFrame{"no_header", frame_of({{"t", "#labels"}}, json::object()), errc::bad_header},
        BadFrame{"body_no_map", frame_of(kLabels, "x"), errc::bad_body},
        BadFrame{"no_seq", frame_of(kLabels, {{"labels", json::array()}}), errc::bad_seq},
        BadFrame{"seq_0", frame_of(kLabels, {{"seq", 0}, {"labels", json::array()}}),
                 errc::bad_seq},
        BadFrame{"no_labels", frame_of(kLabels, {{"seq", 1}}), errc::bad_labels},
        BadFrame{"labels_no_list", frame_of(kLabels, {{"seq", 1}, {"labels", 5}}),
                 errc::bad_labels}),
    [](const auto& one) { return std::string(one.param.name); });

/// Real frames: ../shared/data/README.md.
class SharedLabelFrames : public testing::Test {
 protected:
  void SetUp() override { SKUA_NEED_SHARED(); }
  static DecodedLabelFrame frame(const char* name) {
    const auto file =
        test::read_file(*test::shared_dir() / "data/commits/label-stream-frames.json");
    return decoded(test::from_hex(json::parse(file).at(name).get<std::string>()));
  }
};

TEST_F(SharedLabelFrames, a_real_label) {
  const auto labels = frame("labels_frame_hex");
  EXPECT_EQ(labels.type, DecodedLabelFrame::Type::Labels);
  EXPECT_EQ(labels.seq, 42);
  ASSERT_EQ(labels.labels.size(), 1U);
  const LabelEntry& entry = labels.labels.front();
  EXPECT_EQ(entry.error, std::nullopt);
  EXPECT_TRUE(std::holds_alternative<records::ActorRef>(entry.label.subject));
  EXPECT_EQ(entry.label.sig.size(), 64U);
  EXPECT_FALSE(entry.label.neg);
  EXPECT_LT(signed_forms_of_label(entry.block).at(0).size(), entry.block.size() - 64);
}

TEST_F(SharedLabelFrames, real_words) {
  EXPECT_EQ(frame("info_frame_hex").name, "OutdatedCursor");
  EXPECT_EQ(frame("error_frame_hex").name, "FutureCursor");
}

}  // namespace
}  // namespace skua::event::label_frame_test
