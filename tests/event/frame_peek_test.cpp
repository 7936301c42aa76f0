#include <random>

#include <gtest/gtest.h>

#include "event/errc.hpp"
#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"

namespace skua::test::frame_peek_test {
namespace {

using event::errc;
using event::MessageType;
using event::peek_frame;

TEST(FramePeekTest, sees_account_and_number) {
  const Bytes frame = CommitBuilder().remove("a.b.c/d").frame();
  const auto peek = peek_frame(frame);
  ASSERT_TRUE(peek);
  EXPECT_EQ(peek->type, MessageType::Commit);
  EXPECT_EQ(peek->seq, 42);
  EXPECT_EQ(peek->did, kDid);
}

TEST(FramePeekTest, does_not_look_into_values) {
  json body = CommitBuilder().body();
  body["blocks"] = bytes_json({0xff, 0xff});
  body["ops"] = {{{"repo", "did:web:wrong.example"}, {"seq", 7}, {"deep", {{{"did", "x"}}, 1.5}}}};
  body["did"] = "did:web:wrong.example";
  const Bytes frame = message("#commit", body);
  const auto peek = peek_frame(frame);
  ASSERT_TRUE(peek);
  EXPECT_EQ(peek->seq, 42);
  EXPECT_EQ(peek->did, kDid);
}

TEST(FramePeekTest, takes_no_number_that_is_none) {
  for (const json& seq : {json(-1), json((std::int64_t{1} << 53) + 1), json("7"), json(nullptr)}) {
    const Bytes frame = message("#identity", {{"seq", seq}, {"did", kDid}});
    const auto peek = peek_frame(frame);
    ASSERT_TRUE(peek);
    EXPECT_EQ(peek->seq, 0);
    EXPECT_EQ(peek->did, kDid);
  }
}

TEST(FramePeekTest, refuses_what_is_no_frame) {
  EXPECT_EQ(peek_frame({}).error(), make_error_code(errc::frame_truncated));
  EXPECT_EQ(peek_frame(cbor_of({{"op", 1}, {"t", "#info2"}})).error(),
            make_error_code(errc::frame_truncated));
  EXPECT_EQ(peek_frame(Bytes{0x80, 0xa0}).error(), make_error_code(errc::frame_malformed));
  EXPECT_EQ(peek_frame(Bytes{0xbf, 0xff}).error(), make_error_code(errc::frame_malformed));
  EXPECT_EQ(peek_frame(Bytes{0xa1, 0x01, 0x01, 0xa0}).error(),
            make_error_code(errc::frame_malformed));
  EXPECT_EQ(peek_frame(Bytes{0xa0, 0xa0}).error(), make_error_code(errc::bad_header));
  // A list that claims more items than there are bytes.
  EXPECT_EQ(peek_frame(Bytes{0xa1, 0x61, 'x', 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
                .error(),
            make_error_code(errc::frame_truncated));
}

TEST(FramePeekTest, a_message_of_unknown_type_has_its_account_under_did_alone) {
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  for (const json& body :
       {json{{"seq", 7}, {"did", kDid}, {"repo", "did:web:other.example"}},
        json{{"seq", 7}, {"repo", "did:web:other.example"}}, json{{"seq", 7}, {"did", kDid}}}) {
    const Bytes frame = message("#novelty", body);
    const auto peek = peek_frame(frame);
    ASSERT_TRUE(peek);
    ASSERT_TRUE(decoder.decode(frame, decoded));
    EXPECT_EQ(peek->did, body.value("did", ""));
    EXPECT_EQ(peek->did, decoded.did);
  }
}

TEST(FramePeekTest, agrees_with_decode_however_a_frame_is_damaged) {
  const Bytes whole = CommitBuilder()
                          .create("app.bsky.feed.post/1", cbor_of(post_json("x")))
                          .remove("app.bsky.feed.like/2")
                          .frame();
  std::mt19937 random(7);
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  int usable = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes frame = whole;
    frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    const auto peek = peek_frame(frame);
    if (!decoder.decode(frame, decoded)) continue;
    ++usable;
    ASSERT_TRUE(peek);
    EXPECT_EQ(peek->type, decoded.type);
    EXPECT_EQ(peek->seq, decoded.seq);
    EXPECT_EQ(peek->did, decoded.did);
  }
  EXPECT_GT(usable, 100);
}

}  // namespace
}  // namespace skua::test::frame_peek_test
