#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/made_changes.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers::notifications_test {
namespace {

struct Like {
  AccountNumber account = 0;
  std::int64_t rkey = 0;
  std::int64_t post = 0;
  /// 0: the account has another like of the post.
  std::int16_t delta = 1;
};

class NotificationsTest : public ChangesTest {
 protected:
  void add(int batch, const std::string& policy = "pause") {
    prepare_fold_session(session());
    add_consumer(
        session(),
        {.name = "notifications",
         .policy = policy,
         .overrides = fmt::format(
             R"({{"pause_ms": 0, "batch": {}, "retry_ms": 1, "max_retry_ms": 1}})", batch)});
    test::maintain_projections(session());
  }
  /// Writes the likes and their changes, in this order, in one transaction.
  void write(const std::vector<Like>& likes) {
    postgres::Transaction transaction(session());
    tables::ChangeBlock block;
    for (const Like& like : likes) {
      session().run(fmt::format(
          "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
          "subject_collection, subject_rkey) VALUES ({}, {}, 1, now(), '', {}, 1, {})",
          like.account, like.rkey, kAuthor, like.post));
      block.references.push_back({.change = block.changes.size(),
                                  .role = tables::ReferenceRole::Like,
                                  .delta = like.delta,
                                  .target = {kAuthor, 1, like.post}});
      block.changes.push_back({.actor_id = like.account,
                               .collection_id = 2,
                               .rkey = like.rkey,
                               .rev = 1,
                               .cid = atproto::Digest{}});
    }
    tables::append_changes(session(), block);
    transaction.commit();
  }
  /// The keys of the likes that notify the author of the post.
  std::string notified() {
    return value(
        "SELECT coalesce(string_agg(rkey::text, ', ' ORDER BY rkey), '') FROM bsky.notifications");
  }
};

TEST_F(NotificationsTest,
       of_two_likes_of_one_transaction_the_first_notifies_wherever_a_batch_ends) {
  add(2);
  // A batch ends between the two likes of the post 7. The second one counts.
  write({{1, 10, 5}, {1, 11, 7, 0}, {1, 12, 7, 1}, {1, 13, 6}});
  test::fold_changes(session());
  EXPECT_EQ(notified(), "10, 11, 13");
}

TEST_F(NotificationsTest, a_later_like_with_a_smaller_key_replaces_the_notification) {
  add(10);
  write({{1, 10, 5}, {1, 12, 7}});
  test::fold_changes(session());
  EXPECT_EQ(notified(), "10, 12");
  write({{1, 11, 7, 0}, {2, 20, 7}});
  test::fold_changes(session());
  EXPECT_EQ(notified(), "10, 11, 20");
}

TEST_F(NotificationsTest, a_replayed_like_does_not_notify_if_another_like_came_first_since) {
  add(10, "skip");
  session().run(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.rkey = 12 "
      "THEN RAISE EXCEPTION 'refused' USING ERRCODE = '23514'; END IF; RETURN NEW; END $$");
  session().run(
      "DO $$ BEGIN EXECUTE format('CREATE TRIGGER refuse BEFORE INSERT ON skua.notifications_%s "
      "FOR EACH ROW EXECUTE FUNCTION refuse()', (SELECT id FROM skua.consumers)); END $$");
  write({{1, 12, 7}});
  const auto letters = [&] { return tables::letter_ids(session(), {}); };
  for (int i = 0; i < 100 && letters().empty(); ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  ASSERT_EQ(letters().size(), 1U);
  write({{1, 11, 7, 0}, {2, 20, 7}});
  test::fold_changes(session());
  EXPECT_EQ(notified(), "11, 20");

  session().run("DROP FUNCTION refuse CASCADE");
  tables::request_replay(session(), letters().front());
  replay_skipped_changes(session());
  EXPECT_EQ(notified(), "11, 20");
  EXPECT_EQ(value("SELECT status FROM skua.dead_letter"), "resolved");
}

}  // namespace
}  // namespace skua::consumers::notifications_test
