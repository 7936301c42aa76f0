#include "support/projections.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "consumers/projections/projection.hpp"
#include "support/postgres.hpp"

namespace skua::consumers::projections_test {
namespace {

class ProjectionsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(ProjectionsTest, all_are_built_of_an_empty_database) {
  test::add_projections(session(), 10);
  EXPECT_EQ(test::projection_differences(session()), "");
  std::string expected;
  for (const Projection& each : projections()) expected += each.name + " live running, ";
  EXPECT_EQ(
      value("SELECT string_agg(name || ' ' || role || ' ' || state || ', ', '' ORDER BY name) "
            "FROM skua.consumers"),
      expected);
}

TEST_F(ProjectionsTest, a_mention_notifies_the_account_and_never_the_author) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:author', now()), "
      "('did:plc:mentioned', now())");
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, mentions) SELECT "
      "bsky.actor_id('did:plc:author'), 1, 1, now(), '', array_agg(id) FROM bsky.actors");
  test::add_projections(session(), 10);
  EXPECT_EQ(value("SELECT recipient_did || ' ' || reason || ' ' || did FROM "
                  "bsky.notifications_view"),
            "did:plc:mentioned mention did:plc:author");
  EXPECT_EQ(test::projection_differences(session()), "");
}

TEST_F(ProjectionsTest, the_view_has_no_notifications_about_deleted_posts_or_of_deleted_accounts) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at, active, status) VALUES ('did:plc:liker', now(), "
      "true, NULL), ('did:plc:author', now(), NULL, NULL), ('did:plc:gone', now(), false, "
      "'deleted')");
  // The likes are of a stored post, a deleted post, a post that was never seen, and a post
  // of a deleted account.
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, is_deleted) SELECT "
      "bsky.actor_id('did:plc:author'), p.rkey, 1, now(), p.cid, p.is_deleted FROM (VALUES (1, "
      "''::bytea, false), (2, NULL, true)) AS p(rkey, cid, is_deleted)");
  session().run(
      "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
      "subject_collection, subject_rkey) SELECT bsky.actor_id('did:plc:liker'), s.rkey, 1, now(), "
      "'', bsky.actor_id(s.did), 1, s.rkey FROM (VALUES (1, 'did:plc:author'), (2, "
      "'did:plc:author'), (3, 'did:plc:author'), (4, 'did:plc:gone')) AS s(rkey, did)");
  test::add_projections(session(), 10);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.notifications"), "4");
  EXPECT_EQ(value("SELECT string_agg(subject_rkey::text, ',' ORDER BY subject_rkey) FROM "
                  "bsky.notifications_view"),
            "1,3");
  EXPECT_EQ(test::projection_differences(session()), "");
  // The post is created again.
  session().run("UPDATE bsky.posts SET is_deleted = false, cid = '' WHERE rkey = 2");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.notifications_view"), "3");
}

TEST_F(ProjectionsTest, trends_count_the_tags_of_posts) {
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:author', now())");
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, all_tags) SELECT id, n, 1, "
      "now(), '', ARRAY['art', 'tag' || n] FROM bsky.actors, generate_series(1, 2) AS n");
  test::add_projections(session(), 10);
  EXPECT_EQ(value("SELECT string_agg(tag || ' ' || posts, ', ' ORDER BY tag) FROM bsky.tag_trends"),
            "art 2, tag1 1, tag2 1");
  EXPECT_EQ(test::projection_differences(session()), "");
}

}  // namespace
}  // namespace skua::consumers::projections_test
