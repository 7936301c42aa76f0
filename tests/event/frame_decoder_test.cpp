#include "event/frame_decoder.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "event/errc.hpp"
#include "event/frame_builder.hpp"
#include "repo/errc.hpp"

namespace skua::test::frame_decoder_test {
namespace {

using event::DecodedFrame;
using event::errc;
using event::FrameDecoder;
using event::MessageType;
using event::Operation;
using event::RecordChange;
using event::Rejection;
using records::RecordType;

/// The error of decoding; success when it is decoded.
ErrorCode error_of(const Bytes& frame) {
  FrameDecoder decoder;
  DecodedFrame out;
  const auto decoded = decoder.decode(frame, out);
  return decoded ? ErrorCode() : decoded.error();
}

/// Decodes a frame that must decode. Says too that the peek saw the same.
DecodedFrame decode(const Bytes& frame) {
  FrameDecoder decoder;
  DecodedFrame out;
  const auto decoded = decoder.decode(frame, out);
  EXPECT_TRUE(decoded) << decoded.error().message();
  const auto peek = event::peek_frame(frame);
  EXPECT_TRUE(peek);
  if (peek) {
    EXPECT_EQ(peek->type, out.type);
    EXPECT_EQ(peek->seq, out.seq);
    EXPECT_EQ(peek->did, out.did);
  }
  return out;
}

const RecordChange& change_of(const DecodedFrame& frame, std::size_t index) {
  return std::get<RecordChange>(frame.events.at(index).body);
}

const Rejection& rejection_of(const DecodedFrame& frame, std::size_t index) {
  return std::get<Rejection>(frame.events.at(index).body);
}

const records::Post& post_of(const DecodedFrame& frame, std::size_t index) {
  return std::get<records::Post>(change_of(frame, index).record.record);
}

const std::string kPath = "app.bsky.feed.post/3jquh3dxgi52o";

TEST(FrameDecoderTest, a_commit_gives_its_ops_in_order) {
  const Bytes post = cbor_of(post_json("one"));
  const Bytes profile = cbor_of({{"$type", "app.bsky.actor.profile"}});
  const DecodedFrame frame = decode(CommitBuilder()
                                        .create(kPath, post)
                                        .update("app.bsky.actor.profile/self", profile)
                                        .remove("app.bsky.feed.like/3jquh3dxv4v2o")
                                        .frame());
  EXPECT_EQ(frame.type, MessageType::Commit);
  EXPECT_EQ(frame.seq, 42);
  EXPECT_EQ(frame.did, kDid);
  EXPECT_EQ(frame.time.time_since_epoch().count(), kTimeUs);
  EXPECT_EQ(frame.rev->to_string(), kRev);
  ASSERT_EQ(frame.events.size(), 3U);
  for (const auto& event : frame.events) {
    EXPECT_EQ(event.did, kDid);
    EXPECT_EQ(event.seq, 42);
    EXPECT_EQ(std::get<RecordChange>(event.body).rev.to_string(), kRev);
  }

  EXPECT_EQ(change_of(frame, 0).operation, Operation::Create);
  EXPECT_EQ(frame.events[0].type, RecordType::Post);
  EXPECT_EQ(frame.events[0].at_uri(), "at://" + std::string(kDid) + "/" + kPath);
  EXPECT_EQ(change_of(frame, 0).block, post);
  EXPECT_EQ(change_of(frame, 0).cid, atproto::Cid::of(post));
  EXPECT_EQ(post_of(frame, 0).text, "one");

  EXPECT_EQ(change_of(frame, 1).operation, Operation::Update);
  EXPECT_EQ(frame.events[1].type, RecordType::Actor);

  EXPECT_EQ(change_of(frame, 2).operation, Operation::Delete);
  EXPECT_EQ(frame.events[2].type, RecordType::Like);
  EXPECT_EQ(change_of(frame, 2).collection, "app.bsky.feed.like");
  EXPECT_EQ(change_of(frame, 2).rkey, "3jquh3dxv4v2o");
  EXPECT_FALSE(change_of(frame, 2).cid);
  EXPECT_TRUE(change_of(frame, 2).block.empty());
}

TEST(FrameDecoderTest, a_record_outlives_its_frame) {
  DecodedFrame frame;
  {
    FrameDecoder decoder;
    Bytes bytes = CommitBuilder().create(kPath, cbor_of(post_json(std::string(300, 'x')))).frame();
    ASSERT_TRUE(decoder.decode(bytes, frame));
    std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  }
  const auto moved = std::move(frame.events.at(0));
  const auto& record = std::get<RecordChange>(moved.body).record.record;
  EXPECT_EQ(std::get<records::Post>(record).text, std::string(300, 'x'));
}

TEST(FrameDecoderTest, a_decoder_is_used_again) {
  FrameDecoder decoder;
  DecodedFrame out;
  ASSERT_TRUE(decoder.decode(CommitBuilder().create(kPath, cbor_of(post_json("a"))).frame(), out));
  ASSERT_TRUE(decoder.decode(message("#info", {{"name", "OutdatedCursor"}}), out));
  EXPECT_TRUE(out.events.empty());
  EXPECT_EQ(out.seq, 0);
  EXPECT_EQ(out.did, "");
  EXPECT_FALSE(out.rev);
  ASSERT_TRUE(decoder.decode(CommitBuilder().frame(), out));
  EXPECT_EQ(out.name, "");
  EXPECT_EQ(out.seq, 42);
}

TEST(FrameDecoderTest, the_old_form_of_a_commit_is_taken) {
  json body = CommitBuilder().create(kPath, cbor_of(post_json("old"))).body();
  body.erase("prevData");
  body["prev"] = nullptr;
  body["blobs"] = nullptr;
  EXPECT_EQ(post_of(decode(message("#commit", body)), 0).text, "old");
}

TEST(FrameDecoderTest, a_commit_may_be_empty_or_too_big) {
  EXPECT_TRUE(decode(CommitBuilder().frame()).events.empty());
  json body = CommitBuilder().body();
  body["tooBig"] = true;
  body["blocks"] = bytes_json({});
  EXPECT_TRUE(decode(message("#commit", body)).events.empty());
}

TEST(FrameDecoderTest, fields_that_it_does_not_know_are_ignored) {
  json body = CommitBuilder().remove(kPath).body();
  body["novelty"] = {1, {{"a", nullptr}}};
  body["ops"][0]["prev"] = body["commit"];
  EXPECT_EQ(decode(message("#commit", body)).events.size(), 1U);
}

struct BadOp {
  std::string name;
  json op;
  std::string what;
  std::string error;
  RecordType type = RecordType::Metadata;
};

class RejectedOp : public testing::TestWithParam<BadOp> {};

const json kMissing = link_json(atproto::Cid::of(as_bytes("missing")));

INSTANTIATE_TEST_SUITE_P(
    Ops, RejectedOp,
    testing::Values(
        BadOp{"missing_block",
              {{"action", "create"}, {"path", kPath}, {"cid", kMissing}},
              kPath,
              "the record's block is missing",
              RecordType::Post},
        BadOp{"null_cid",
              {{"action", "update"}, {"path", kPath}, {"cid", nullptr}},
              kPath,
              "op without the record's CID",
              RecordType::Post},
        BadOp{"no_slash",
              {{"action", "delete"}, {"path", "app.bsky.feed.post"}, {"cid", nullptr}},
              "app.bsky.feed.post",
              "path: "},
        BadOp{"bad_rkey",
              {{"action", "delete"}, {"path", "a.b.c/d e"}, {"cid", nullptr}},
              "a.b.c/d e",
              "path: "},
        BadOp{"unknown_action",
              {{"action", "merge"}, {"path", kPath}, {"cid", nullptr}},
              kPath,
              "unknown action merge",
              RecordType::Post},
        BadOp{"no_action",
              {{"path", kPath}, {"cid", nullptr}},
              kPath,
              "op without an action",
              RecordType::Post},
        BadOp{"no_path", {{"action", "delete"}, {"cid", nullptr}}, "op", "op without a path"},
        BadOp{"path_is_a_number", {{"action", "delete"}, {"path", 7}}, "op", "op without a path"},
        BadOp{"not_a_map", 7, "op", "op without a path"}),
    [](const auto& test) { return test.param.name; });

TEST_P(RejectedOp, stands_among_its_siblings) {
  const BadOp& bad = GetParam();
  const Bytes good = cbor_of(post_json("good"));
  const DecodedFrame frame = decode(CommitBuilder()
                                        .create("app.bsky.feed.post/before", good)
                                        .op(bad.op)
                                        .create("app.bsky.feed.post/after", good)
                                        .frame());
  ASSERT_EQ(frame.events.size(), 3U);
  EXPECT_EQ(post_of(frame, 0).text, "good");
  EXPECT_EQ(post_of(frame, 2).text, "good");
  EXPECT_EQ(change_of(frame, 2).rkey, "after");
  const Rejection& rejection = rejection_of(frame, 1);
  EXPECT_EQ(rejection.what, bad.what);
  EXPECT_EQ(rejection.error.substr(0, bad.error.size()), bad.error);
  EXPECT_EQ(rejection.payload, cbor_of(bad.op));
  // The payload is not a record.
  EXPECT_FALSE(rejection.cid);
  EXPECT_EQ(frame.events[1].type, bad.type);
  EXPECT_EQ(frame.events[1].did, kDid);
  EXPECT_EQ(frame.events[1].seq, 42);
}

TEST(FrameDecoderTest, a_block_that_is_not_dag_cbor_is_rejected_alone) {
  const std::string text = "MARK";
  Bytes not_utf8 = cbor_of(post_json(text));
  const auto mark = std::search(not_utf8.begin(), not_utf8.end(), text.begin(), text.end());
  ASSERT_NE(mark, not_utf8.end());
  *mark = 0xff;
  const Bytes indefinite = {0x9f, 0xff};
  for (const Bytes& bad : {not_utf8, indefinite, Bytes{}, Bytes{0xa1}}) {
    const Bytes good = cbor_of(post_json("good"));
    const DecodedFrame frame = decode(CommitBuilder()
                                          .create("app.bsky.feed.post/1", good)
                                          .create("app.bsky.feed.post/2", bad)
                                          .remove("app.bsky.feed.post/3")
                                          .frame());
    ASSERT_EQ(frame.events.size(), 3U);
    EXPECT_EQ(post_of(frame, 0).text, "good");
    EXPECT_EQ(rejection_of(frame, 1).what, "app.bsky.feed.post/2");
    const Rejection& rejection = rejection_of(frame, 1);
    EXPECT_EQ(rejection.operation, Operation::Create);
    EXPECT_EQ(rejection.rev.to_string(), kRev);
    EXPECT_EQ(rejection.cid.has_value(), !bad.empty());
    if (!bad.empty()) {
      EXPECT_EQ(rejection.payload, bad);
      EXPECT_EQ(rejection.cid, atproto::Cid::of(bad));
    }
    EXPECT_EQ(frame.events[1].type, RecordType::Post);
    EXPECT_EQ(change_of(frame, 2).operation, Operation::Delete);
  }
}

/// {"createdAt", "text", "$type"}: neither by length nor by name.
Bytes post_in_another_order(const std::string& text) {
  const json post = post_json(text);
  Bytes bytes = {0xa3};
  for (const char* key : {"createdAt", "text", "$type"}) {
    const Bytes encoded_key = cbor_of(key);
    bytes.insert(bytes.end(), encoded_key.begin(), encoded_key.end());
    const Bytes value = cbor_of(post.at(key));
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return bytes;
}

TEST(FrameDecoderTest, a_record_of_another_form_is_a_record_like_any_other) {
  const Bytes odd = post_in_another_order("odd");
  const Bytes plain = cbor_of(post_json("plain"));
  const DecodedFrame frame = decode(CommitBuilder()
                                        .create("app.bsky.feed.post/1", odd)
                                        .create("app.bsky.feed.post/2", plain)
                                        .frame());
  ASSERT_EQ(frame.events.size(), 2U);
  EXPECT_EQ(post_of(frame, 0).text, "odd");
  EXPECT_EQ(change_of(frame, 0).cid, atproto::Cid::of(odd));
  EXPECT_EQ(change_of(frame, 0).block, odd);
  EXPECT_FALSE(is_canonical(frame.events[0]));
  EXPECT_TRUE(is_canonical(frame.events[1]));
}

/// Bytes of a map with these entries, in this order.
Bytes map_in_order(const std::vector<std::pair<std::string, Bytes>>& entries) {
  Bytes bytes = {static_cast<std::uint8_t>(0xa0 + entries.size())};
  for (const auto& [key, value] : entries) {
    const Bytes encoded_key = cbor_of(key);
    bytes.insert(bytes.end(), encoded_key.begin(), encoded_key.end());
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return bytes;
}

TEST(FrameDecoderTest, the_maps_of_a_frame_may_have_any_order_and_unknown_keys) {
  const Bytes half_float = {0xf9, 0x3e, 0x00};
  Bytes bytes = map_in_order({{"op", cbor_of(1)}, {"t", cbor_of("#identity")}, {"v", half_float}});
  const Bytes body = map_in_order({{"time", cbor_of(kTime)},
                                   {"zone", half_float},
                                   {"handle", cbor_of("alice.example")},
                                   {"did", cbor_of(kDid)},
                                   {"seq", Bytes{0x1b, 0, 0, 0, 0, 0, 0, 0, 42}}});
  bytes.insert(bytes.end(), body.begin(), body.end());
  const DecodedFrame frame = decode(bytes);
  EXPECT_EQ(frame.type, MessageType::Identity);
  EXPECT_EQ(frame.seq, 42);
  EXPECT_EQ(frame.did, kDid);
  ASSERT_EQ(frame.events.size(), 1U);
}

TEST(FrameDecoderTest, a_record_has_a_million_bytes_at_most) {
  const auto padded = [](std::size_t padding) {
    json post = post_json("x");
    post["padding"] = std::string(padding, 'x');
    return cbor_of(post);
  };
  const std::size_t rest = padded(999'000).size() - 999'000;
  const Bytes largest = padded(1'000'000 - rest);
  ASSERT_EQ(largest.size(), 1'000'000U);
  EXPECT_EQ(post_of(decode(CommitBuilder().create(kPath, largest).frame()), 0).extra,
            R"({"padding":")" + std::string(1'000'000 - rest, 'x') +
                R"(","createdAt":"2026-07-04T14:38:08Z"})");
  const Bytes larger = padded(1'000'001 - rest);
  const DecodedFrame frame =
      decode(CommitBuilder().create(kPath, larger).remove("a.b.c/d").frame());
  EXPECT_EQ(rejection_of(frame, 0).payload, larger);
  EXPECT_EQ(change_of(frame, 1).rkey, "d");
}

TEST(FrameDecoderTest, odd_records_are_no_bad_ones) {
  const std::string long_rkey(512, '~');
  json no_time = post_json("x");
  no_time.erase("createdAt");
  json ancient = post_json("x");
  ancient["createdAt"] = "0001-01-01T00:00:00Z";
  const DecodedFrame frame =
      decode(CommitBuilder()
                 .create("app.bsky.feed.post/nul", cbor_of(post_json(std::string("a\0b", 3))))
                 .create("app.bsky.feed.post/" + long_rkey, cbor_of(post_json("long")))
                 .create("app.bsky.feed.post/cjzzzzzzzzzzz", cbor_of(post_json("c")))
                 .create("app.bsky.feed.post/ancient", cbor_of(ancient))
                 .create("app.bsky.feed.post/no-time", cbor_of(no_time))
                 .create("com.example.note/1", cbor_of({{"a", 1}}))
                 .create("com.example.note/2", cbor_of({{"a", 1.5}}))
                 .frame());
  ASSERT_EQ(frame.events.size(), 7U);
  EXPECT_EQ(post_of(frame, 0).text, std::string("a\0b", 3));
  EXPECT_EQ(change_of(frame, 1).rkey, long_rkey);
  EXPECT_EQ(change_of(frame, 2).rkey, "cjzzzzzzzzzzz");
  EXPECT_EQ(format_datetime(*post_of(frame, 3).created_at), "0001-01-02T00:00:00.000000Z");
  EXPECT_EQ(change_of(frame, 4).record.invalid_reason, "createdAt: missing");
  EXPECT_EQ(json::parse(change_of(frame, 4).record.json), no_time);
  EXPECT_EQ(change_of(frame, 5).record.json, R"({"a":1})");
  EXPECT_FALSE(change_of(frame, 5).record.invalid_reason);
  EXPECT_TRUE(change_of(frame, 6).record.invalid_reason);
}

TEST(FrameDecoderTest, a_block_that_is_not_its_cid_fails_the_frame) {
  EXPECT_EQ(error_of(CommitBuilder().remove(kPath).wrong_block(cbor_of({{"a", 1}})).frame()),
            make_error_code(repo::errc::car_hash_mismatch));
}

TEST(FrameDecoderTest, two_hundred_ops_are_the_limit) {
  CommitBuilder builder;
  for (int i = 0; i < 200; ++i) builder.remove("a.b.c/" + std::to_string(i));
  EXPECT_EQ(decode(builder.frame()).events.size(), 200U);
  builder.remove("a.b.c/200");
  EXPECT_EQ(error_of(builder.frame()), make_error_code(errc::too_many_ops));
}

TEST(FrameDecoderTest, blocks_have_a_limit) {
  json body = CommitBuilder().body();
  body["blocks"] = bytes_json(Bytes(2'000'001));
  EXPECT_EQ(error_of(message("#commit", body)), make_error_code(errc::blocks_too_large));
}

TEST(FrameDecoderTest, a_frame_has_a_limit) {
  EXPECT_EQ(error_of(Bytes(5'000'001)), make_error_code(errc::frame_too_large));
}

json sync_body() {
  json body = CommitBuilder().body();
  return {{"seq", 42},
          {"did", kDid},
          {"time", kTime},
          {"rev", body["rev"]},
          {"blocks", body["blocks"]}};
}

json identity_body() {
  return {{"seq", 42}, {"did", kDid}, {"time", kTime}, {"handle", "alice.example"}};
}

json account_body() {
  return {{"seq", 42}, {"did", kDid}, {"time", kTime}, {"active", false}, {"status", "takendown"}};
}

struct BadField {
  std::string type;
  json body;
  std::string field;
  json value;  // discarded: the field is missing
  errc error;
};

std::vector<BadField> bad_fields() {
  const json missing(json::value_t::discarded);
  std::vector<BadField> all;
  const json commit = CommitBuilder().remove(kPath).body();
  const std::vector<std::pair<std::string, json>> numbered = {{"#commit", commit},
                                                              {"#sync", sync_body()},
                                                              {"#identity", identity_body()},
                                                              {"#account", account_body()}};
  for (const auto& [type, body] : numbered) {
    for (const json& value :
         {missing, json(0), json(-1), json((std::int64_t{1} << 53) + 1), json("1")}) {
      all.push_back({type, body, "seq", value, errc::bad_seq});
    }
    const std::string did = type == "#commit" ? "repo" : "did";
    for (const json& value : {missing, json(7), json("alice.example"), json("did:plc:")}) {
      all.push_back({type, body, did, value, errc::bad_did});
    }
    for (const json& value : {missing, json(7), json("yesterday")}) {
      all.push_back({type, body, "time", value, errc::bad_time});
    }
  }
  for (const auto& [type, body] : {numbered[0], numbered[1]}) {
    // The last is a TID with bit 63 set, which is no revision of our time.
    for (const json& value : {missing, json(7), json("now"), json("cjzzzzzzzzzzz")}) {
      all.push_back({type, body, "rev", value, errc::bad_rev});
    }
    for (const json& value : {missing, json("text"), json(nullptr)}) {
      all.push_back({type, body, "blocks", value, errc::bad_blocks});
    }
  }
  all.push_back(
      {"#sync", sync_body(), "blocks", bytes_json(Bytes(10'001)), errc::blocks_too_large});
  for (const json& value : {missing, json(7)}) {
    all.push_back({"#commit", commit, "since", value, errc::bad_since});
    all.push_back({"#commit", commit, "commit", value, errc::bad_commit});
    all.push_back({"#commit", commit, "ops", value, errc::bad_ops});
    all.push_back({"#account", account_body(), "active", value, errc::bad_active});
  }
  all.push_back({"#commit", commit, "prevData", "text", errc::bad_prev_data});
  all.push_back({"#account", account_body(), "status", 7, errc::bad_status});
  all.push_back({"#info", {{"name", "OutdatedCursor"}}, "name", missing, errc::bad_name});
  all.push_back({"#info", {{"name", "OutdatedCursor"}}, "message", 7, errc::bad_message});
  return all;
}

class FrameWithBadField : public testing::TestWithParam<BadField> {};
INSTANTIATE_TEST_SUITE_P(Fields, FrameWithBadField, testing::ValuesIn(bad_fields()),
                         [](const auto& test) {
                           return test.param.type.substr(1) + "_" + test.param.field + "_" +
                                  std::to_string(test.index);
                         });

TEST_P(FrameWithBadField, is_unusable) {
  const BadField& bad = GetParam();
  json body = bad.body;
  EXPECT_EQ(error_of(message(bad.type, body)), ErrorCode());
  if (bad.value.is_discarded()) {
    body.erase(bad.field);
  } else {
    body[bad.field] = bad.value;
  }
  EXPECT_EQ(error_of(message(bad.type, body)), make_error_code(bad.error));
  EXPECT_NE(make_error_code(bad.error).message(), "unknown error");
}

TEST(FrameDecoderTest, a_malformed_handle_is_an_absent_one) {
  for (const json& handle :
       {json(""), json("a_b.test"), json("x.test."), json("@at.test"), json("handle.invalid"),
        json("Handle.Invalid"), json(std::string(300, 'a') + ".test"), json(7), json(nullptr)}) {
    json body = identity_body();
    body["handle"] = handle;
    const DecodedFrame frame = decode(message("#identity", body));
    ASSERT_EQ(frame.events.size(), 1U) << handle;
    EXPECT_EQ(std::get<event::IdentityChange>(frame.events[0].body).handle, std::nullopt) << handle;
  }
}

TEST(FrameDecoderTest, an_identity_change_is_an_actor_event) {
  const DecodedFrame frame = decode(message("#identity", identity_body()));
  ASSERT_EQ(frame.events.size(), 1U);
  EXPECT_EQ(frame.events[0].type, RecordType::Actor);
  EXPECT_EQ(frame.events[0].did, kDid);
  EXPECT_EQ(frame.events[0].seq, 42);
  EXPECT_EQ(frame.events[0].at_uri(), "at://" + std::string(kDid));
  const auto& change = std::get<event::IdentityChange>(frame.events[0].body);
  EXPECT_EQ(change.handle, "alice.example");
  EXPECT_EQ(change.time.time_since_epoch().count(), kTimeUs);

  json body = identity_body();
  body["handle"] = "Alice.EXAMPLE";
  const DecodedFrame shouting = decode(message("#identity", body));
  EXPECT_EQ(std::get<event::IdentityChange>(shouting.events.at(0).body).handle, "alice.example")
      << "handles are compared without case";
  for (const bool null : {true, false}) {
    if (null) {
      body["handle"] = nullptr;
    } else {
      body.erase("handle");
    }
    const DecodedFrame without = decode(message("#identity", body));
    EXPECT_FALSE(std::get<event::IdentityChange>(without.events.at(0).body).handle);
  }
}

TEST(FrameDecoderTest, an_account_change_is_an_actor_event) {
  const DecodedFrame frame = decode(message("#account", account_body()));
  ASSERT_EQ(frame.events.size(), 1U);
  EXPECT_EQ(frame.events[0].type, RecordType::Actor);
  const auto& change = std::get<event::AccountChange>(frame.events[0].body);
  EXPECT_FALSE(change.active);
  EXPECT_EQ(change.status, "takendown");

  json body = account_body();
  body["active"] = true;
  body.erase("status");
  const DecodedFrame active = decode(message("#account", body));
  EXPECT_TRUE(std::get<event::AccountChange>(active.events.at(0).body).active);
  EXPECT_EQ(std::get<event::AccountChange>(active.events.at(0).body).status, "");
}

TEST(FrameDecoderTest, a_sync_sets_the_rev) {
  const DecodedFrame frame = decode(message("#sync", sync_body()));
  EXPECT_EQ(frame.type, MessageType::Sync);
  EXPECT_EQ(frame.rev->to_string(), kRev);
  EXPECT_TRUE(frame.events.empty());
}

TEST(FrameDecoderTest, an_info_has_words_and_no_number) {
  const DecodedFrame frame =
      decode(message("#info", {{"name", "OutdatedCursor"}, {"message", "too old"}}));
  EXPECT_EQ(frame.type, MessageType::Info);
  EXPECT_EQ(frame.name, "OutdatedCursor");
  EXPECT_EQ(frame.message, "too old");
}

TEST(FrameDecoderTest, an_error_frame_has_words) {
  const DecodedFrame frame =
      decode(frame_of({{"op", -1}}, {{"error", "FutureCursor"}, {"message", "in the future"}}));
  EXPECT_EQ(frame.type, MessageType::Error);
  EXPECT_EQ(frame.name, "FutureCursor");
  EXPECT_EQ(frame.message, "in the future");
  EXPECT_EQ(error_of(frame_of({{"op", -1}}, {{"message", "?"}})), make_error_code(errc::bad_name));
}

TEST(FrameDecoderTest, what_it_does_not_know_is_unknown) {
  const json body = {{"seq", 43}, {"did", kDid}, {"novelty", true}};
  EXPECT_EQ(decode(message("#novelty", body)).type, MessageType::Unknown);
  EXPECT_EQ(decode(message("#novelty", body)).seq, 43);
  EXPECT_EQ(decode(message("#novelty", body)).did, kDid);
  EXPECT_EQ(decode(frame_of({{"op", 2}, {"t", "#commit"}}, body)).type, MessageType::Unknown);
  EXPECT_EQ(decode(frame_of({{"op", -2}}, json::object())).type, MessageType::Unknown);
}

TEST(FrameDecoderTest, a_header_needs_its_fields) {
  for (const json& header : {json::object(), json({{"t", "#commit"}}), json({{"op", 1}}),
                             json({{"op", "1"}, {"t", "#info"}}), json({{"op", 1}, {"t", 1}})}) {
    EXPECT_EQ(error_of(frame_of(header, json::object())), make_error_code(errc::bad_header))
        << header.dump();
  }
  EXPECT_EQ(error_of(frame_of({{"op", 1}, {"t", "#info"}}, json::array())),
            make_error_code(errc::bad_body));
}

TEST(FrameDecoderTest, a_frame_cut_short_is_unusable) {
  const Bytes frame = CommitBuilder().create(kPath, cbor_of(post_json("x"))).frame();
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_NE(error_of(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size))),
              ErrorCode())
        << size;
  }
  Bytes longer = frame;
  longer.push_back(0);
  EXPECT_EQ(error_of(longer), make_error_code(repo::errc::cbor_trailing_bytes));
}

}  // namespace
}  // namespace skua::test::frame_decoder_test
