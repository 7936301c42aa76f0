#include "event/jetstream_message.hpp"

#include <random>

#include <gtest/gtest.h>

#include "event/errc.hpp"
#include "event/event_outline.hpp"
#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"

namespace skua::test::jetstream_message_test {
namespace {

using event::errc;
using event::JetstreamKind;
using event::JetstreamMessage;

const std::string kDidText(kDid);
const std::string kTimeText(kTime);
const std::string kRevText(kRev);

const std::string kPost =
    R"({"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:08Z","text":"a b"})";
const std::string kPostCid = atproto::Cid::of(cbor_of(json::parse(kPost))).to_string();

enum class Version : std::uint8_t { V1, V2 };

std::string v1(const std::string& kind, const std::string& body) {
  return R"({"did":")" + kDidText + R"(","time_us":)" + std::to_string(kTimeUs) + R"(,"kind":")" +
         kind + R"(",")" + kind + R"(":)" + body + "}";
}

/// A frame of xrpc.v1.json; `fields` go into the payload unchanged.
std::string v2(const std::string& kind, const std::string& fields) {
  return R"({"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#)" +
         kind + R"(","seq":24647190112,"did":")" + kDidText + R"(","time":")" + kTimeText +
         R"(",)" + fields + "}}";
}

std::string event_text(Version version, const std::string& kind, const std::string& body) {
  if (version == Version::V1) return v1(kind, body);
  if (kind == "commit") return v2(kind, body.substr(1, body.size() - 2));
  std::string field = "\"";
  field.append(kind).append("\":").append(body);
  return v2(kind, field);
}

std::string commit_body(const std::string& operation) {
  std::string body = R"({"rev":")" + kRevText + R"(","operation":")" + operation +
                     R"(","collection":"app.bsky.feed.post","rkey":"3k")";
  if (operation != "delete") body += R"(,"record":)" + kPost + R"(,"cid":")" + kPostCid + R"(")";
  return body + "}";
}

std::int64_t cursor_of(Version version) {
  return version == Version::V1 ? kTimeUs : 24'647'190'112;
}

std::string outline_of_text(const std::string& text) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  if (const auto decoded = decoder.decode(text, message); !decoded) {
    return "error: " + decoded.error().message();
  }
  return message.events.empty() ? std::string() : outline_of(message.events.front());
}

/// The frame decoder's event is the measure; both versions give it.
void expect_frames_event(const std::string& kind, const std::string& body, const Bytes& bytes) {
  event::FrameDecoder frames;
  event::DecodedFrame frame;
  ASSERT_TRUE(frames.decode(bytes, frame));
  for (const Version version : {Version::V1, Version::V2}) {
    const std::string text = event_text(version, kind, body);
    event::JetstreamDecoder decoder;
    JetstreamMessage message;
    ASSERT_TRUE(decoder.decode(text, message)) << text;
    EXPECT_EQ(message.did, kDid);
    EXPECT_EQ(message.cursor, cursor_of(version));
    EXPECT_EQ(format_datetime(message.time), kTime);
    EXPECT_TRUE(message.cid_matches);
    ASSERT_EQ(message.events.size(), 1U);
    EXPECT_EQ(message.events[0].seq, message.cursor);
    EXPECT_EQ(outline_of(message.events[0]), outline_of(frame.events.at(0)));
    const auto peek = event::peek_jetstream(text);
    ASSERT_TRUE(peek);
    EXPECT_EQ(peek->kind, message.kind);
    EXPECT_EQ(peek->cursor, message.cursor);
    EXPECT_EQ(peek->did, kDid);
  }
}

TEST(JetstreamMessageTest, a_commit_is_what_its_frame_would_be) {
  const Bytes block = cbor_of(json::parse(kPost));
  const std::string path = "app.bsky.feed.post/3k";
  expect_frames_event("commit", commit_body("create"), CommitBuilder().create(path, block).frame());
  expect_frames_event("commit", commit_body("update"), CommitBuilder().update(path, block).frame());
  expect_frames_event("commit", commit_body("delete"), CommitBuilder().remove(path).frame());
}

TEST(JetstreamMessageTest, an_identity_is_what_its_frame_would_be) {
  for (const char* handle : {R"("handle":"Alice.example",)", ""}) {
    const std::string body = R"({"did":")" + kDidText + R"(",)" + handle +
                             R"("seq":1409752997,"time":"2024-09-05T06:11:04.870Z"})";
    expect_frames_event("identity", body, message("#identity", json::parse(body)));
  }
}

TEST(JetstreamMessageTest, an_account_is_what_its_frame_would_be) {
  for (const char* status : {R"("active":true)", R"("active":false,"status":"deleted")"}) {
    const std::string body = std::string("{") + status + R"(,"did":")" + kDidText +
                             R"(","seq":1409753013,"time":"2024-09-05T06:11:04.870Z"})";
    expect_frames_event("account", body, message("#account", json::parse(body)));
  }
}

TEST(JetstreamMessageTest, a_sync_has_its_revision) {
  const std::string body = R"({"seq":992,"did":")" + kDidText + R"(","rev":")" + kRevText +
                           R"(","time":"2026-08-27T00:00:01.900Z","blocks":{"$bytes":"3q2+7w"}})";
  for (const Version version : {Version::V1, Version::V2}) {
    event::JetstreamDecoder decoder;
    JetstreamMessage message;
    ASSERT_TRUE(decoder.decode(event_text(version, "sync", body), message));
    EXPECT_EQ(message.kind, JetstreamKind::Sync);
    EXPECT_EQ(message.cursor, cursor_of(version));
    EXPECT_EQ(message.rev->to_string(), kRev);
    EXPECT_TRUE(message.events.empty());
  }
}

TEST(JetstreamMessageTest, notices_have_their_words_and_no_cursor) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  const std::string info =
      R"({"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#info",)"
      R"("name":"OutdatedCursor","message":"starting at seq 24647190112"}})";
  ASSERT_TRUE(decoder.decode(info, message));
  EXPECT_EQ(message.kind, JetstreamKind::Info);
  EXPECT_EQ(message.cursor, 0);
  EXPECT_EQ(message.name, "OutdatedCursor");
  EXPECT_EQ(message.message, "starting at seq 24647190112");
  ASSERT_TRUE(decoder.decode(
      R"({"$type":"error","error":"ConsumerTooSlow","message":"too far behind"})", message));
  EXPECT_EQ(message.kind, JetstreamKind::Error);
  EXPECT_EQ(message.name, "ConsumerTooSlow");
  EXPECT_EQ(message.message, "too far behind");
}

TEST(JetstreamMessageTest, the_time_is_when_it_was_witnessed) {
  std::string text = event_text(Version::V2, "commit", commit_body("delete"));
  text.insert(text.size() - 2, R"(,"witnessedAt":"2026-07-05T00:00:00.000001Z")");
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  ASSERT_TRUE(decoder.decode(text, message));
  EXPECT_EQ(format_datetime(message.time), "2026-07-05T00:00:00.000001Z");
}

TEST(JetstreamMessageTest, unknown_kinds_and_fields_do_no_harm) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  for (const std::string& text :
       {v1("label", R"({"did":"x"})"), v2("label", R"("label":{"seq":7})"), std::string("{}"),
        std::string(R"({"kind":7,"did":[],"time_us":"x"})"),
        std::string(R"({"$type":"heartbeat","payload":{}})")}) {
    ASSERT_TRUE(decoder.decode(text, message)) << text;
    EXPECT_EQ(message.kind, JetstreamKind::Unknown);
    EXPECT_TRUE(message.events.empty());
  }
  ASSERT_TRUE(decoder.decode(v2("label", R"("label":{"seq":7})"), message));
  EXPECT_EQ(message.cursor, 24'647'190'112);
  for (const Version version : {Version::V1, Version::V2}) {
    const std::string plain = event_text(version, "commit", commit_body("create"));
    std::string more = plain;
    more.insert(more.find(R"("rev")"), R"("new":{"rev":1,"deep":[[{}]]},"isResync":true,)");
    more.insert(1, R"("new":[{"did":"did:web:x.example","time_us":7}],)");
    EXPECT_EQ(outline_of_text(more), outline_of_text(plain));
  }
}

TEST(JetstreamMessageTest, the_claimed_cid_is_kept) {
  const std::string claimed = atproto::Cid::of(as_bytes("something else")).to_string();
  std::string text = event_text(Version::V1, "commit", commit_body("create"));
  text.replace(text.find(kPostCid), kPostCid.size(), claimed);
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  ASSERT_TRUE(decoder.decode(text, message));
  EXPECT_FALSE(message.cid_matches);
  EXPECT_EQ(std::get<event::RecordChange>(message.events.at(0).body).cid->to_string(), claimed);
}

struct Wrong {
  std::string name;
  std::string text;
  std::string error;
};

const std::string kCommit = event_text(Version::V1, "commit", commit_body("create"));

/// kCommit with a part of it replaced.
std::string with(const std::string& part, const std::string& other) {
  std::string text = kCommit;
  return text.replace(text.find(part), part.size(), other);
}

TEST(JetstreamIdentity, a_malformed_handle_is_an_absent_one) {
  for (const char* handle : {R"("x y")", R"("")", R"("x.test.")", "7"}) {
    event::JetstreamDecoder decoder;
    JetstreamMessage message;
    const std::string text = v1("identity", std::string(R"({"handle":)") + handle + "}");
    ASSERT_TRUE(decoder.decode(text, message));
    ASSERT_EQ(message.events.size(), 1U);
    const auto* change = std::get_if<event::IdentityChange>(&message.events[0].body);
    ASSERT_NE(change, nullptr) << handle;
    EXPECT_EQ(change->handle, std::nullopt) << handle;
  }
}

class RejectedEvent : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(
    Events, RejectedEvent,
    testing::Values(Wrong{"rev", with(kRevText, "3k"), "rev is missing"},
                    Wrong{"operation", with("create", "rename"), "unknown action rename"},
                    Wrong{"record", with(kPost, "null"), "the record is missing"},
                    Wrong{"record_that_is_no_json", with(kPost, "{]"), "the record: not JSON"},
                    Wrong{"cid", with(kPostCid, "bafy"), "op without the record's CID"},
                    Wrong{"path", with("app.bsky.feed.post\",\"rkey", "post\",\"rkey"), "path: "},
                    Wrong{"no_commit", v1("commit", "null"), "not JSON"},
                    Wrong{"no_active", v1("account", "{}"), "active is missing"},
                    Wrong{"status", v1("account", R"({"active":true,"status":7})"),
                          "status is not text"}),
    [](const auto& test) { return test.param.name; });

TEST_P(RejectedEvent, is_kept_with_its_bytes) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  ASSERT_TRUE(decoder.decode(GetParam().text, message));
  EXPECT_EQ(message.cursor, kTimeUs);
  ASSERT_EQ(message.events.size(), 1U);
  const auto* rejection = std::get_if<event::Rejection>(&message.events[0].body);
  ASSERT_NE(rejection, nullptr);
  EXPECT_EQ(rejection->error.substr(0, GetParam().error.size()), GetParam().error);
  EXPECT_EQ(as_text(rejection->payload), GetParam().text);
  EXPECT_FALSE(rejection->cid);
}

TEST(JetstreamMessageTest, a_rejected_record_keeps_its_operation_and_revision) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  ASSERT_TRUE(decoder.decode(with(kPost, "null"), message));
  const auto& rejection = std::get<event::Rejection>(message.events.at(0).body);
  EXPECT_EQ(rejection.what, "app.bsky.feed.post/3k");
  EXPECT_EQ(rejection.operation, event::Operation::Create);
  EXPECT_EQ(rejection.rev.to_string(), kRevText);
}

struct Refused {
  std::string name;
  std::string text;
  errc error;
};

class NoEvent : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(
    Texts, NoEvent,
    testing::Values(
        Refused{"nothing", "", errc::json_malformed},
        Refused{"a_list", "[{}]", errc::json_malformed},
        Refused{"cut", kCommit.substr(0, kCommit.size() - 1), errc::json_malformed},
        Refused{"text_behind", kCommit + "{}", errc::json_malformed},
        Refused{"deep", R"({"a":)" + std::string(1'000'000, '['), errc::json_malformed},
        Refused{"no_payload", R"({"$type":"message"})", errc::json_malformed},
        Refused{"too_large", std::string(8'000'001, ' '), errc::json_too_large},
        Refused{"no_cursor", with("time_us", "time_ms"), errc::json_bad_cursor},
        Refused{"cursor_of_text", with(std::to_string(kTimeUs), "\"7\""), errc::json_bad_cursor},
        Refused{"negative_cursor", with(std::to_string(kTimeUs), "-7"), errc::json_bad_cursor},
        Refused{"huge_cursor", with(std::to_string(kTimeUs), "9007199254740993"),
                errc::json_bad_cursor},
        Refused{"no_did", with("did:plc", "plc"), errc::bad_did},
        Refused{"sync_without_rev", v1("sync", "{}"), errc::bad_rev},
        Refused{"info_without_name", v1("info", "{}"), errc::bad_name}),
    [](const auto& test) { return test.param.name; });

TEST_P(NoEvent, is_an_error) {
  event::JetstreamDecoder decoder;
  JetstreamMessage message;
  const auto decoded = decoder.decode(GetParam().text, message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error(), make_error_code(GetParam().error));
}

TEST(JetstreamMessageTest, peek_agrees_with_decode_however_a_text_is_damaged) {
  std::mt19937 random(7);
  event::JetstreamDecoder decoder;
  JetstreamMessage out;
  int usable = 0;
  for (int i = 0; i < 50'000; ++i) {
    const Version version = i % 2 == 0 ? Version::V1 : Version::V2;
    std::string text = event_text(version, "commit", commit_body("create"));
    text[random() % text.size()] = static_cast<char>(random());
    if (random() % 8 == 0) text.erase(random() % text.size(), random() % 16);
    const auto peek = event::peek_jetstream(text);
    if (!decoder.decode(text, out)) continue;
    ++usable;
    ASSERT_TRUE(peek) << text;
    EXPECT_EQ(peek->kind, out.kind);
    EXPECT_EQ(peek->cursor, out.cursor);
    EXPECT_EQ(peek->did, out.did);
  }
  EXPECT_GT(usable, 10'000);
}

}  // namespace
}  // namespace skua::test::jetstream_message_test
