#include <gtest/gtest.h>

#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"
#include "event/jetstream_message.hpp"

namespace skua::test::jetstream_json_test {
namespace {

/// The lines of a frame's events, parsed.
std::vector<json> lines_of(const Bytes& bytes) {
  event::FrameDecoder decoder;
  event::DecodedFrame frame;
  EXPECT_TRUE(decoder.decode(bytes, frame));
  event::JetstreamWriter writer;
  std::vector<json> lines;
  for (const auto& event : frame.events) {
    std::string line;
    if (writer.append(line, event, frame.time)) {
      EXPECT_EQ(line.find('\n'), std::string::npos);
      lines.push_back(json::parse(line));
    } else {
      EXPECT_EQ(line, "");
    }
  }
  return lines;
}

TEST(JetstreamJsonTest, has_the_shape_of_a_commit) {
  const json record = post_json(std::string("a\0\n\"", 4));
  const Bytes block = cbor_of(record);
  const auto lines = lines_of(CommitBuilder()
                                  .create("app.bsky.feed.post/1", block)
                                  .update("com.example.note/2", block)
                                  .remove("app.bsky.feed.post/3")
                                  .frame());
  ASSERT_EQ(lines.size(), 3U);
  const json envelope = {{"did", kDid}, {"time_us", kTimeUs}, {"kind", "commit"}};
  json expected = envelope;
  expected["commit"] = {
      {"rev", kRev}, {"operation", "create"}, {"collection", "app.bsky.feed.post"},
      {"rkey", "1"}, {"record", record},      {"cid", atproto::Cid::of(block).to_string()}};
  EXPECT_EQ(lines[0], expected);
  expected["commit"]["operation"] = "update";
  expected["commit"]["collection"] = "com.example.note";
  expected["commit"]["rkey"] = "2";
  EXPECT_EQ(lines[1], expected);
  expected["commit"] = {
      {"rev", kRev}, {"operation", "delete"}, {"collection", "app.bsky.feed.post"}, {"rkey", "3"}};
  EXPECT_EQ(lines[2], expected);
}

TEST(JetstreamJsonTest, has_the_shape_of_an_identity) {
  const auto lines = lines_of(message(
      "#identity", {{"seq", 42}, {"did", kDid}, {"time", kTime}, {"handle", "alice.example"}}));
  EXPECT_EQ(lines.at(0),
            json({{"did", kDid},
                  {"time_us", kTimeUs},
                  {"kind", "identity"},
                  {"identity",
                   {{"did", kDid}, {"handle", "alice.example"}, {"seq", 42}, {"time", kTime}}}}));
}

TEST(JetstreamJsonTest, has_the_shape_of_an_account) {
  json body = {{"seq", 42}, {"did", kDid}, {"time", kTime}, {"active", true}};
  json expected = {{"did", kDid}, {"time_us", kTimeUs}, {"kind", "account"}, {"account", body}};
  EXPECT_EQ(lines_of(message("#account", body)).at(0), expected);
  body["active"] = false;
  body["status"] = "deleted";
  expected["account"] = body;
  EXPECT_EQ(lines_of(message("#account", body)).at(0), expected);
}

TEST(JetstreamJsonTest, has_no_shape_for_a_rejection) {
  EXPECT_TRUE(lines_of(CommitBuilder().op(7).frame()).empty());
}

}  // namespace
}  // namespace skua::test::jetstream_json_test
