#include <gtest/gtest.h>

#include "streams/change_event.hpp"

namespace skua::streams::change_json_test {
namespace {

ChangeEvent event_of(const std::string& kind, const std::string& op) {
  ChangeEvent event;
  event.timeline = 1;
  event.pos = 47;
  event.at = Timestamp(std::chrono::microseconds(1'783'175'888'085'434));
  event.kind = kind;
  event.op = op;
  event.did = "did:plc:a";
  return event;
}

ChangeEvent like() {
  auto event = event_of("record", "create");
  event.collection = "app.bsky.feed.like";
  event.rkey = "3k";
  event.rev = "3l";
  event.cid = "bafy";
  event.references = {{"like", 1, "at://did:plc:b/app.bsky.feed.post/3j"}};
  event.record = R"({"$type": "app.bsky.feed.like"})";
  return event;
}

ChangeEvent message() {
  auto event = event_of("message", "create");
  event.did = "";
  event.topic = "orders";
  event.message =
      MessageContent{.id = 9,
                     .key = "a\"b",
                     .enqueued_at = Timestamp(std::chrono::microseconds(1'783'175'888'000'000)),
                     .payload = R"([12.50, "x"])",
                     .headers = R"({"trace": "t"})"};
  return event;
}

constexpr const char* kBegin = R"({"pos":"1-47","time":"2026-07-04T14:38:08.085434Z",)";

TEST(ChangeJsonTest, a_message) {
  EXPECT_EQ(change_json(message()),
            std::string(kBegin) +
                R"("kind":"message","op":"create","topic":"orders","key":"a\"b","id":9,)"
                R"("enqueued_at":"2026-07-04T14:38:08.000000Z","headers":{"trace": "t"},)"
                R"("payload":[12.50, "x"]})");
  EXPECT_EQ(jetstream_json(message(), 99), std::nullopt);
  EXPECT_GT(message().bytes(), event_of("message", "create").bytes());
}

TEST(ChangeJsonTest, a_record) {
  EXPECT_EQ(
      change_json(like()),
      std::string(kBegin) +
          R"("kind":"record","op":"create","did":"did:plc:a","collection":"app.bsky.feed.like",)"
          R"("rkey":"3k","rev":"3l","cid":"bafy","references":[{"role":"like","delta":1,)"
          R"("uri":"at://did:plc:b/app.bsky.feed.post/3j"}],"record":{"$type": "app.bsky.feed.like"}})");
}

TEST(ChangeJsonTest, a_superseded_and_a_deleted_record) {
  auto event = like();
  event.record.clear();
  event.references.clear();
  event.is_superseded = true;
  EXPECT_TRUE(change_json(event).ends_with(R"("cid":"bafy","superseded":true})"));
  event.is_superseded = false;
  event.op = "delete";
  event.cid.clear();
  event.references = {{"follow", -1, "did:plc:b"}};
  EXPECT_TRUE(change_json(event).ends_with(
      R"("rev":"3l","references":[{"role":"follow","delta":-1,"did":"did:plc:b"}]})"));
}

TEST(ChangeJsonTest, accounts_handles_and_labels) {
  auto account = event_of("account", "update");
  account.active = false;
  account.status = "deactivated";
  EXPECT_EQ(change_json(account), std::string(kBegin) +
                                      R"("kind":"account","op":"update","did":"did:plc:a",)"
                                      R"("active":false,"status":"deactivated"})");
  EXPECT_EQ(change_json(event_of("handle", "delete")),
            std::string(kBegin) + R"("kind":"handle","op":"delete","did":"did:plc:a",)"
                                  R"("handle":null,"handle_valid":null})");
  auto label = event_of("label", "create");
  label.val = "spam";
  label.references = {{"label", 1, "did:plc:b"}};
  label.label = R"({"cts": "2026-01-01T00:00:00.000Z"})";
  EXPECT_EQ(change_json(label), std::string(kBegin) +
                                    R"("kind":"label","op":"create","did":"did:plc:a",)"
                                    R"("uri":"did:plc:b","val":"spam",)"
                                    R"("cts":"2026-01-01T00:00:00.000Z"})");
}

TEST(ChangeJsonTest, the_end_of_a_bootstrap_has_no_account) {
  auto event = event_of("bootstrap", "create");
  event.did.clear();
  EXPECT_EQ(change_json(event), std::string(kBegin) + R"("kind":"bootstrap","op":"create"})");
}

TEST(JetstreamJsonTest, a_commit) {
  EXPECT_EQ(
      jetstream_json(like(), 99),
      R"({"did":"did:plc:a","time_us":99,"kind":"commit","commit":{"rev":"3l","operation":"create",)"
      R"("collection":"app.bsky.feed.like","rkey":"3k","cid":"bafy",)"
      R"("record":{"$type": "app.bsky.feed.like"}}})");
  auto event = like();
  event.record.clear();
  event.is_superseded = true;
  EXPECT_EQ(jetstream_json(event, 99), std::nullopt) << "the later change follows";
  event.is_superseded = false;
  event.op = "delete";
  EXPECT_EQ(
      jetstream_json(event, 99),
      R"({"did":"did:plc:a","time_us":99,"kind":"commit","commit":{"rev":"3l","operation":"delete",)"
      R"("collection":"app.bsky.feed.like","rkey":"3k"}})");
}

TEST(JetstreamJsonTest, identity_and_account) {
  auto handle = event_of("handle", "update");
  handle.handle = "a.test";
  EXPECT_EQ(jetstream_json(handle, 99),
            R"({"did":"did:plc:a","time_us":99,"kind":"identity","identity":{"did":"did:plc:a",)"
            R"("seq":47,"time":"2026-07-04T14:38:08.085434Z","handle":"a.test"}})");
  auto account = event_of("account", "update");
  account.active = false;
  account.status = "takendown";
  EXPECT_EQ(jetstream_json(account, 99),
            R"({"did":"did:plc:a","time_us":99,"kind":"account","account":{"active":false,)"
            R"("did":"did:plc:a","seq":47,"time":"2026-07-04T14:38:08.085434Z",)"
            R"("status":"takendown"}})");
  EXPECT_EQ(jetstream_json(event_of("label", "create"), 99), std::nullopt);
  EXPECT_EQ(jetstream_json(event_of("bootstrap", "create"), 99), std::nullopt);
}

}  // namespace
}  // namespace skua::streams::change_json_test
