#include <string>

#include <gtest/gtest.h>

#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"
#include "event/repository_chunks.hpp"

namespace skua::event::repository_decoder_test {
namespace {

using test::kDid;
using test::kRev;

const atproto::Tid kRevision = *atproto::Tid::parse(kRev);

Bytes post_block() {
  return test::cbor_of({{"$type", "app.bsky.feed.post"},
                        {"text", "a post"},
                        {"createdAt", "2026-07-04T14:38:08.999Z"}});
}

repo::ListedRecord listed(std::string_view path, const Bytes& block) {
  return {path, atproto::Cid::of(block), block};
}

UnresolvedEvent decode(std::string_view path, const Bytes& block) {
  RepositoryDecoder decoder;
  return decoder.decode(kDid, kRevision, listed(path, block));
}

TEST(RepositoryDecoder, makes_a_create_of_history) {
  const Bytes block = post_block();
  const UnresolvedEvent event = decode("app.bsky.feed.post/3jquh3dxgi52o", block);
  EXPECT_EQ(event.did, kDid);
  EXPECT_EQ(event.source, EventSource::Backfill);
  EXPECT_EQ(event.type, RecordType::Post);
  EXPECT_EQ(event.seq, 0);
  const auto& change = std::get<RecordChange>(event.body);
  EXPECT_EQ(change.operation, Operation::Create);
  EXPECT_EQ(change.collection, "app.bsky.feed.post");
  EXPECT_EQ(change.rkey, "3jquh3dxgi52o");
  EXPECT_EQ(change.cid, atproto::Cid::of(block));
  EXPECT_EQ(change.rev, kRevision);
  EXPECT_EQ(change.block, block);
  EXPECT_EQ(std::get<records::Post>(change.record.record).text, "a post");
}

// The record's texts must not point into the CAR, which goes before the events do.
TEST(RepositoryDecoder, keeps_nothing_of_the_car) {
  Bytes block = post_block();
  const UnresolvedEvent event = decode("app.bsky.feed.post/3jquh3dxgi52o", block);
  std::fill(block.begin(), block.end(), std::uint8_t{'?'});
  const auto& change = std::get<RecordChange>(event.body);
  EXPECT_EQ(std::get<records::Post>(change.record.record).text, "a post");
}

TEST(RepositoryDecoder, says_what_a_commit_says) {
  const std::string path = "app.bsky.feed.post/3jquh3dxgi52o";
  const Bytes block = post_block();
  FrameDecoder frames;
  DecodedFrame frame;
  const Bytes bytes = test::CommitBuilder().create(path, block).frame();
  ASSERT_TRUE(frames.decode(bytes, frame));
  ASSERT_EQ(frame.events.size(), 1U);
  const UnresolvedEvent event = decode(path, block);
  EXPECT_EQ(event.at_uri(), frame.events[0].at_uri());
  EXPECT_EQ(event.type, frame.events[0].type);
  const auto& ours = std::get<RecordChange>(event.body);
  const auto& live = std::get<RecordChange>(frame.events[0].body);
  EXPECT_EQ(ours.cid, live.cid);
  EXPECT_EQ(ours.rev, live.rev);
  EXPECT_EQ(ours.block, live.block);
  EXPECT_EQ(ours.record.record.index(), live.record.record.index());
}

TEST(RepositoryDecoder, takes_any_collection) {
  const Bytes block = test::cbor_of({{"$type", "com.example.thing"}, {"name", "n"}});
  const UnresolvedEvent event = decode("com.example.thing/any", block);
  EXPECT_EQ(event.type, RecordType::Metadata);
  EXPECT_FALSE(std::get<RecordChange>(event.body).record.json.empty());
}

void expect_rejection(std::string_view path, const Bytes& block, std::string_view error,
                      const Bytes& payload) {
  const UnresolvedEvent event = decode(path, block);
  EXPECT_EQ(event.did, kDid);
  EXPECT_EQ(event.source, EventSource::Backfill);
  const auto* rejection = std::get_if<Rejection>(&event.body);
  ASSERT_NE(rejection, nullptr);
  EXPECT_EQ(rejection->what, path);
  EXPECT_NE(rejection->error.find(error), std::string::npos) << rejection->error;
  EXPECT_EQ(rejection->payload, payload);
}

TEST(RepositoryDecoder, rejects_bad_paths) {
  for (const char* path :
       {"", "app.bsky.feed.post", "app.bsky.feed.post/", "/3jquh3dxgi52o", "post/3jquh3dxgi52o",
        "app.bsky.feed.post/a/b", "app.bsky.feed.post/#"}) {
    expect_rejection(path, post_block(), "path: ", post_block());
  }
}

TEST(RepositoryDecoder, rejects_what_is_no_dag_cbor) {
  const Bytes block = {0xa1, 0x61};
  expect_rejection("app.bsky.feed.post/3jquh3dxgi52o", block, "the record's block: ", block);
  EXPECT_EQ(decode("app.bsky.feed.post/3jquh3dxgi52o", block).type, RecordType::Post);
}

TEST(RepositoryDecoder, rejects_large_records_and_keeps_some_of_them) {
  const std::string path = "app.bsky.feed.post/3jquh3dxgi52o";
  const Bytes large = test::cbor_of({{"text", std::string(1'000'000, 'x')}});
  expect_rejection(path, large, "larger than 1,000,000 bytes", large);
  const Bytes huge(3'000'000, 0x01);
  expect_rejection(path, huge, "larger than 1,000,000 bytes", Bytes(2'000'000, 0x01));
}

}  // namespace
}  // namespace skua::event::repository_decoder_test
