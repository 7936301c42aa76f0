#include "writer/dead_letter.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/made_events.hpp"

namespace skua::writer::dead_letter_test {
namespace {

const std::string kDid = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kPath = "app.bsky.feed.post/3l2s5xxv2ze2c";

tables::DeadLetter letter_of(event::UnresolvedEvent made) {
  event::ResolvedEvent event;
  event.event = std::move(made);
  return dead_letter_of("relay:a.test", event, "refused", "23514");
}

event::UnresolvedEvent made_post_write(event::Operation operation) {
  return test::made_write(kDid, "app.bsky.feed.post", "3l2s5xxv2ze2c", 7, test::made_post("x"),
                          operation);
}

event::UnresolvedEvent rejected(event::Rejection rejection) {
  event::UnresolvedEvent event;
  event.did = kDid;
  event.seq = 5;
  event.body = std::move(rejection);
  return event;
}

TEST(DeadLetterTest, a_record_has_all_that_a_replay_needs) {
  for (const auto& [operation, name] : {std::pair{event::Operation::Create, "create"},
                                        std::pair{event::Operation::Update, "update"}}) {
    const event::UnresolvedEvent made = made_post_write(operation);
    const auto& change = std::get<event::RecordChange>(made.body);
    const Bytes block = change.block;
    const tables::DeadLetter letter = letter_of(made_post_write(operation));
    EXPECT_EQ(letter.consumer, "indexer");
    EXPECT_EQ(letter.key, "relay:a.test 7 at://" + kDid + "/" + kPath);
    EXPECT_EQ(letter.source, "relay:a.test");
    EXPECT_EQ(letter.did, kDid);
    EXPECT_EQ(letter.path, kPath);
    EXPECT_EQ(letter.operation, name);
    EXPECT_EQ(letter.rev, 7);
    EXPECT_EQ(letter.payload, block);
    EXPECT_EQ(letter.cid, change.cid->digest);
    EXPECT_EQ(letter.error, "refused");
    EXPECT_EQ(letter.sqlstate, "23514");
  }
}

TEST(DeadLetterTest, a_delete_has_no_bytes) {
  const tables::DeadLetter letter =
      letter_of(test::made_delete(kDid, "app.bsky.feed.post", "3l2s5xxv2ze2c", 7));
  EXPECT_EQ(letter.path, kPath);
  EXPECT_EQ(letter.operation, "delete");
  EXPECT_EQ(letter.rev, 7);
  EXPECT_TRUE(letter.payload.empty());
  EXPECT_FALSE(letter.cid);
}

TEST(DeadLetterTest, a_rejected_operation_has_what_is_known_of_it) {
  const Bytes block = {1, 2};
  tables::DeadLetter letter = letter_of(rejected({.what = kPath,
                                                  .error = "e",
                                                  .payload = block,
                                                  .operation = event::Operation::Update,
                                                  .rev = {9},
                                                  .cid = atproto::Cid::of(block)}));
  EXPECT_EQ(letter.path, kPath);
  EXPECT_EQ(letter.operation, "update");
  EXPECT_EQ(letter.rev, 9);
  EXPECT_EQ(letter.cid, atproto::Cid::of(block).digest);
  letter = letter_of(rejected({.what = kPath, .error = "e", .payload = block}));
  EXPECT_EQ(letter.path, kPath);
  EXPECT_EQ(letter.operation, "");
  EXPECT_EQ(letter.rev, 0);
  EXPECT_FALSE(letter.cid);
}

TEST(DeadLetterTest, messages_and_labels_have_no_path) {
  for (const char* what : {"frame", "op", "account", "not a path/x"}) {
    const tables::DeadLetter letter =
        letter_of(rejected({.what = what, .error = "e", .payload = {1}, .rev = {9}}));
    EXPECT_EQ(letter.path, "") << what;
    EXPECT_EQ(letter.operation, "frame") << what;
    EXPECT_EQ(letter.rev, 0) << what;
  }
  EXPECT_EQ(letter_of(rejected({.what = event::label_path(3), .error = "e"})).operation, "label");
}

TEST(DeadLetterTest, an_event_that_is_rejected_later_keeps_its_fields) {
  event::ResolvedEvent event;
  event.event = made_post_write(event::Operation::Create);
  const auto cid = event.change().cid;
  reject(event, "the number stands for another key");
  const auto& rejection = std::get<event::Rejection>(event.event.body);
  EXPECT_EQ(rejection.what, kPath);
  EXPECT_EQ(rejection.operation, event::Operation::Create);
  EXPECT_EQ(rejection.rev.value, 7U);
  EXPECT_EQ(rejection.cid, cid);
}

}  // namespace
}  // namespace skua::writer::dead_letter_test
