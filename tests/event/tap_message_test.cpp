#include "event/tap_message.hpp"

#include <random>

#include <gtest/gtest.h>

#include "event/errc.hpp"
#include "event/event_outline.hpp"
#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"

namespace skua::test::tap_message_test {
namespace {

using event::errc;
using event::TapMessage;
using event::TapType;

const std::string kDidText(kDid);
const Timestamp kNow{std::chrono::microseconds(kTimeUs)};

/// A post as Tap (Go) writes it, keys in the order of their bytes.
const std::string kPost =
    R"({"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:08Z","text":"a \u003c b"})";
const std::string kPostCid = atproto::Cid::of(cbor_of(json::parse(kPost))).to_string();

std::string record_text(bool live, const std::string& action) {
  std::string text = R"({"id":12345,"type":"record","record":{"live":)";
  text += live ? "true" : "false";
  text += R"(,"did":")" + kDidText + R"(","rev":")" + std::string(kRev) +
          R"(","collection":"app.bsky.feed.post","rkey":"3k","action":")" + action + '"';
  if (action != "delete") text += R"(,"record":)" + kPost + R"(,"cid":")" + kPostCid + '"';
  return text + "}}";
}

/// What a message becomes, as text.
std::string decode(const std::string& text) {
  event::TapDecoder decoder;
  TapMessage message;
  if (const auto decoded = decoder.decode(text, kNow, message); !decoded) {
    return "error: " + decoded.error().message();
  }
  std::string outline;
  for (const auto& event : message.events) {
    EXPECT_EQ(event.seq, 0);
    outline += outline_of(event) + '\n';
  }
  return outline;
}

struct Action {
  std::string name;
  event::Operation operation;
  bool live;
};

class TapRecord : public testing::TestWithParam<Action> {};
INSTANTIATE_TEST_SUITE_P(Actions, TapRecord,
                         testing::Values(Action{"create", event::Operation::Create, true},
                                         Action{"update", event::Operation::Update, true},
                                         Action{"delete", event::Operation::Delete, true},
                                         Action{"create", event::Operation::Create, false}),
                         [](const auto& test) {
                           return test.param.name + (test.param.live ? "" : "_of_history");
                         });

/// The frame decoder's event of the same change is the measure.
TEST_P(TapRecord, is_what_its_frame_would_be) {
  const Action& action = GetParam();
  const std::string text = record_text(action.live, action.name);
  const std::string path = "app.bsky.feed.post/3k";
  CommitBuilder commit;
  if (action.operation == event::Operation::Delete) {
    commit.remove(path);
  } else {
    commit.op(action.name, path, cbor_of(json::parse(kPost)));
  }
  event::FrameDecoder frames;
  event::DecodedFrame frame;
  const Bytes bytes = commit.frame();
  ASSERT_TRUE(frames.decode(bytes, frame));
  auto& expected = frame.events.at(0);
  expected.source = action.live ? event::EventSource::Live : event::EventSource::Backfill;

  event::TapDecoder decoder;
  TapMessage message;
  ASSERT_TRUE(decoder.decode(text, kNow, message));
  EXPECT_EQ(message.id, 12345);
  EXPECT_EQ(message.type, TapType::Record);
  EXPECT_EQ(message.did, kDid);
  EXPECT_TRUE(message.cid_matches);
  ASSERT_EQ(message.events.size(), 1U);
  EXPECT_EQ(outline_of(message.events[0]), outline_of(expected));

  const auto peek = event::peek_tap(text);
  ASSERT_TRUE(peek);
  EXPECT_EQ(peek->id, 12345);
  EXPECT_EQ(peek->type, TapType::Record);
  EXPECT_EQ(peek->did, kDid);
}

struct Status {
  std::string name;
  bool is_active;
  std::string stored;
};

class TapIdentity : public testing::TestWithParam<Status> {};
INSTANTIATE_TEST_SUITE_P(Statuses, TapIdentity,
                         testing::Values(Status{"active", true, ""},
                                         Status{"takendown", false, "takendown"},
                                         Status{"suspended", false, "suspended"},
                                         Status{"deactivated", false, "deactivated"},
                                         Status{"deleted", false, "deleted"}),
                         [](const auto& test) { return test.param.name; });

TEST_P(TapIdentity, is_a_handle_and_a_status_by_either_name) {
  for (const std::string type : {"identity", "user"}) {
    const std::string text = R"({"id":12346,"type":")" + type + R"(",")" + type + R"(":{"did":")" +
                             kDidText + R"(","handle":"Alice.bsky.social","is_active":)" +
                             (GetParam().is_active ? "true" : "false") + R"(,"status":")" +
                             GetParam().name + R"("}})";
    event::UnresolvedEvent handle;
    handle.did = kDid;
    handle.type = event::RecordType::Actor;
    handle.body = event::IdentityChange{"alice.bsky.social", kNow};
    event::UnresolvedEvent status;
    status.did = kDid;
    status.type = event::RecordType::Actor;
    event::AccountChange change;
    change.active = GetParam().is_active;
    change.status = GetParam().stored;
    change.time = kNow;
    status.body = change;
    EXPECT_EQ(decode(text), outline_of(handle) + '\n' + outline_of(status) + '\n');
    const auto peek = event::peek_tap(text);
    ASSERT_TRUE(peek);
    EXPECT_EQ(peek->type, TapType::Identity);
    EXPECT_EQ(peek->did, kDid);
  }
}

TEST(TapMessageTest, an_ack_names_its_id) {
  EXPECT_EQ(event::tap_ack(12345), R"({"type":"ack","id":12345})");
}

TEST(TapMessageTest, unknown_types_and_fields_do_no_harm) {
  EXPECT_EQ(decode(R"({"id":1,"type":"label","label":{"did":"x"}})"), "");
  EXPECT_EQ(decode(R"({"id":1})"), "");
  EXPECT_EQ(decode(R"({"id":1,"type":7})"), "");
  std::string more = record_text(true, "create");
  more.insert(1, R"("new":{"did":"did:web:x.example","id":7,"deep":[[[{}]]]},)");
  more.insert(more.find(R"("live")"), R"("new":[{"record":1}],)");
  EXPECT_EQ(decode(more), decode(record_text(true, "create")));
}

TEST(TapMessageTest, the_order_of_fields_is_free) {
  const json whole = json::parse(record_text(true, "create"));
  EXPECT_EQ(decode(whole.dump(2)), decode(record_text(true, "create")));
  const std::string turned =
      R"({"record":)" + whole.at("record").dump() + R"(,"type":"record","id":12345})";
  EXPECT_EQ(decode(turned), decode(record_text(true, "create")));
}

TEST(TapMessageTest, of_what_stands_twice_the_first_counts) {
  std::string text = record_text(true, "create");
  text.insert(text.size() - 2, R"(,"did":"did:web:other.example","rkey":"other")");
  text.insert(text.size() - 1, R"(,"id":7,"type":"identity","record":{"did":"did:web:x.example"})");
  EXPECT_EQ(decode(text), decode(record_text(true, "create")));
  EXPECT_EQ(event::peek_tap(text)->id, 12345);
  EXPECT_EQ(event::peek_tap(text)->did, kDid);
}

TEST(TapMessageTest, the_claimed_cid_is_kept) {
  json message = json::parse(record_text(true, "create"));
  const std::string claimed = atproto::Cid::of(as_bytes("something else")).to_string();
  message["record"]["cid"] = claimed;
  event::TapDecoder decoder;
  TapMessage out;
  ASSERT_TRUE(decoder.decode(message.dump(), kNow, out));
  EXPECT_FALSE(out.cid_matches);
  EXPECT_EQ(std::get<event::RecordChange>(out.events.at(0).body).cid->to_string(), claimed);
  ASSERT_TRUE(decoder.decode(record_text(true, "create"), kNow, out));
  EXPECT_TRUE(out.cid_matches);
}

struct Poison {
  std::string name;
  json change;  // merged into the record's message; null removes a field
  std::string error;
};

class TapPoison : public testing::TestWithParam<Poison> {};
INSTANTIATE_TEST_SUITE_P(
    Messages, TapPoison,
    testing::Values(
        Poison{"record_that_tap_could_not_decode", {{"record", nullptr}}, "the record is missing"},
        Poison{"no_cid", {{"cid", nullptr}}, "op without the record's CID"},
        Poison{"cid_that_is_none", {{"cid", "bafy"}}, "op without the record's CID"},
        Poison{
            "cid_that_is_a_link", {{"cid", {{"$link", kPostCid}}}}, "op without the record's CID"},
        Poison{"no_did", {{"did", nullptr}}, "the account's DID is missing or not a DID"},
        Poison{"did_that_is_none", {{"did", "alice"}}, "the account's DID is missing or not a DID"},
        Poison{"no_rev", {{"rev", nullptr}}, "rev is missing or not a TID below 2^63"},
        Poison{"rev_that_is_none", {{"rev", "3k"}}, "rev is missing or not a TID below 2^63"},
        Poison{"no_collection", {{"collection", nullptr}}, "op without a collection"},
        Poison{"collection_that_is_none", {{"collection", "a/b"}}, "path: "},
        Poison{"no_rkey", {{"rkey", 7}}, "op without a record key"},
        Poison{"empty_rkey", {{"rkey", ""}}, "path: "},
        Poison{"no_action", {{"action", nullptr}}, "op without an action"},
        Poison{"unknown_action", {{"action", "rename"}}, "unknown action rename"},
        Poison{"bad_link", {{"record", {{"a", {{"$link", "x"}}}}}}, "the record: a $link that"},
        Poison{"huge_number",
               {{"record", {{"a", 9223372036854775808U}}}},
               "the record: a number that does not fit 64 bits"},
        Poison{"too_large",
               {{"record", {{"a", std::string(1'000'000, 'a')}}}},
               "the record is larger than 1,000,000 bytes"}),
    [](const auto& test) { return test.param.name; });

TEST_P(TapPoison, is_a_rejection_with_its_bytes) {
  json message = json::parse(record_text(true, "create"));
  for (const auto& [key, value] : GetParam().change.items()) {
    if (value.is_null()) {
      message["record"].erase(key);
    } else {
      message["record"][key] = value;
    }
  }
  event::TapDecoder decoder;
  TapMessage out;
  ASSERT_TRUE(decoder.decode(message.dump(), kNow, out));
  EXPECT_EQ(out.id, 12345);
  ASSERT_EQ(out.events.size(), 1U);
  const auto* rejection = std::get_if<event::Rejection>(&out.events[0].body);
  ASSERT_NE(rejection, nullptr);
  EXPECT_EQ(rejection->error.substr(0, GetParam().error.size()), GetParam().error);
  EXPECT_EQ(as_text(rejection->payload), message.at("record").dump());
}

TEST(TapMessageTest, a_record_that_is_no_object_or_no_utf8_is_kept_or_rejected) {
  const std::string text = record_text(true, "create");
  const auto with_record = [&](const std::string& record) {
    std::string changed = text;
    return changed.replace(changed.find(kPost), kPost.size(), record);
  };
  EXPECT_NE(decode(with_record("[1]")).find("invalid=record: must be an object"),
            std::string::npos);
  EXPECT_NE(decode(with_record("{\"a\":\"\xff\"}")).find("rejected app.bsky.feed.post/3k"),
            std::string::npos);
  EXPECT_NE(decode(with_record(R"({"a":1,"a":2})")).find("a key that occurs twice"),
            std::string::npos);
  EXPECT_NE(decode(with_record(R"({"a":[}])")).find("the record: not JSON"), std::string::npos);
  EXPECT_NE(decode(with_record(R"({"a":1.5})")).find("floating point number"), std::string::npos);
}

TEST(TapMessageTest, an_identity_loses_only_what_is_wrong) {
  for (const char* handle : {R"("x y")", "7", "null"}) {
    const std::string malformed =
        decode(R"({"id":1,"type":"identity","identity":{"did":")" + kDidText + R"(","handle":)" +
               handle + R"(,"is_active":true}})");
    EXPECT_NE(malformed.find("handle=none"), std::string::npos) << malformed;
    EXPECT_NE(malformed.find("active=true status= "), std::string::npos) << malformed;
  }
  const std::string empty = decode(R"({"id":1,"type":"identity","identity":{"did":")" + kDidText +
                                   R"(","handle":"","is_active":1}})");
  EXPECT_NE(empty.find("handle=none"), std::string::npos);
  EXPECT_NE(empty.find("rejected account: active is missing"), std::string::npos);
  EXPECT_NE(decode(R"({"id":1,"type":"identity"})").find("rejected identity: not JSON"),
            std::string::npos);
}

struct Refused {
  std::string name;
  std::string text;
  errc error;
};

class NoTapMessage : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(
    Texts, NoTapMessage,
    testing::Values(Refused{"nothing", "", errc::json_malformed},
                    Refused{"a_list", "[]", errc::json_malformed},
                    Refused{"text_behind", R"({"id":1} x)", errc::json_malformed},
                    Refused{"no_id", R"({"type":"record"})", errc::json_bad_id},
                    Refused{"id_0", R"({"id":0})", errc::json_bad_id},
                    Refused{"id_of_text", R"({"id":"7"})", errc::json_bad_id},
                    Refused{"id_with_a_fraction", R"({"id":7.5})", errc::json_bad_id},
                    Refused{"huge_id", R"({"id":9223372036854775808})", errc::json_bad_id},
                    Refused{"deep", std::string(1'000'000, '['), errc::json_malformed},
                    Refused{"deep_behind_the_id", R"({"id":7,"x":)" + std::string(1'000'000, '['),
                            errc::json_malformed},
                    Refused{"too_large", std::string(8'000'001, ' '), errc::json_too_large}),
    [](const auto& test) { return test.param.name; });

TEST_P(NoTapMessage, is_an_error) {
  event::TapDecoder decoder;
  TapMessage out;
  const auto decoded = decoder.decode(GetParam().text, kNow, out);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error(), make_error_code(GetParam().error));
}

TEST(TapMessageTest, what_is_cut_behind_its_id_can_be_acknowledged) {
  const std::string whole = record_text(true, "create");
  const std::size_t id_end = whole.find(R"(,"type")");
  event::TapDecoder decoder;
  TapMessage out;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(decoder.decode(cut, kNow, out));
    const auto peek = event::peek_tap(cut);
    // The id ends where something follows it.
    if (size > id_end) {
      ASSERT_TRUE(peek) << cut;
      EXPECT_EQ(peek->id, 12345);
    }
  }
}

TEST(TapMessageTest, peek_agrees_with_decode_however_a_text_is_damaged) {
  const std::string whole = record_text(true, "create");
  std::mt19937 random(7);
  event::TapDecoder decoder;
  TapMessage out;
  int usable = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = whole;
    text[random() % text.size()] = static_cast<char>(random());
    if (random() % 8 == 0) text.erase(random() % text.size(), random() % 16);
    const auto peek = event::peek_tap(text);
    if (!decoder.decode(text, kNow, out)) continue;
    ++usable;
    ASSERT_TRUE(peek) << text;
    EXPECT_EQ(peek->id, out.id);
    EXPECT_EQ(peek->type, out.type);
    EXPECT_EQ(peek->did, out.did);
    for (const auto& event : out.events) EXPECT_EQ(event.did, out.did);
  }
  EXPECT_GT(usable, 10'000);
}

}  // namespace
}  // namespace skua::test::tap_message_test
