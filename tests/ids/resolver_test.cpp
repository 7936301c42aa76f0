#include "ids/resolver.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/account_group.hpp"
#include "base/account_number.hpp"
#include "ids/actor_ids.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/record_key.hpp"

namespace skua::ids::resolver_test {
namespace {

using event::ResolvedEvent;
using event::UnresolvedEvent;
using test::made_delete;
using test::made_follow;
using test::made_like;
using test::made_post;
using test::made_write;
using testing::HasSubstr;

constexpr const char* kPost = "app.bsky.feed.post";
constexpr const char* kLike = "app.bsky.feed.like";
constexpr const char* kFollow = "app.bsky.graph.follow";
constexpr const char* kKey = "3l2s5xxv2ze2c";

std::string post_uri(const std::string& did, const std::string& rkey) {
  return "at://" + did + "/app.bsky.feed.post/" + rkey;
}

template <class... Events>
std::vector<ResolvedEvent> batch_of(Events... events) {
  std::vector<ResolvedEvent> batch;
  (batch.push_back({std::move(events)}), ...);
  return batch;
}

class ResolverTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::vector<Conflict> resolve(std::vector<ResolvedEvent>& batch) {
    return Resolver(session(), ids_, clock_).resolve(batch);
  }
  std::int64_t count(const std::string& what) {
    return session().run("SELECT count(*) FROM " + what).int8(0, 0);
  }

  test::ManualClock clock_;
  SharedIds ids_;
};

TEST_F(ResolverTest, fills_in_an_event_and_its_references) {
  auto batch = batch_of(
      made_write("did:plc:a", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))),
      made_write("did:plc:b", kFollow, kKey, 6, made_follow("did:plc:c")));
  EXPECT_TRUE(resolve(batch).empty());

  EXPECT_EQ(batch[0].collection_id, records::Like::kCollectionId);
  EXPECT_EQ(batch[0].rkey_number, tables::rkey_number(kKey).value);
  const auto& like = std::get<records::Like>(batch[0].record().record);
  EXPECT_EQ(like.subject->actor_id, batch[1].actor_id);
  EXPECT_EQ(like.subject->collection_id, records::Post::kCollectionId);
  EXPECT_EQ(like.subject->rkey_number, tables::rkey_number("3l2s5xxv2ze2d").value);
  const auto& follow = std::get<records::Follow>(batch[1].record().record);
  EXPECT_EQ(value("SELECT did FROM bsky.actors WHERE id = " + std::to_string(follow.subject.id)),
            "did:plc:c");
  EXPECT_EQ(value("SELECT string_agg(did, ' ' ORDER BY id & 70368744177663) FROM bsky.actors"),
            "did:plc:a did:plc:b did:plc:c");
  EXPECT_EQ(value("SELECT DISTINCT indexed_at FROM bsky.actors"), "2026-01-02 00:00:00+00");
}

TEST_F(ResolverTest, an_account_has_a_share_of_new_account_numbers) {
  ASSERT_TRUE(ids_.number_shares.take("did:plc:a", NumberShares::kOfAccount.burst - 2));
  auto batch =
      batch_of(made_write("did:plc:b", kFollow, kKey, 6, made_follow("did:plc:x1")),
               made_write("did:plc:a", kFollow, kKey, 6, made_follow("did:plc:x2")),
               made_write("did:plc:a", kFollow, "3l2s5xxv2ze2f", 6, made_follow("did:plc:x3")),
               made_write("did:plc:a", kFollow, "3l2s5xxv2ze2g", 6, made_follow("did:plc:b")),
               made_write("did:plc:b", kFollow, "3l2s5xxv2ze2f", 6, made_follow("did:plc:x4")));
  const auto conflicts = resolve(batch);
  // The first event has the number of the account itself, too.
  ASSERT_EQ(conflicts.size(), 2U);
  EXPECT_EQ(conflicts[0].index, 2U);
  EXPECT_NE(conflicts[0].reason.find("share"), std::string::npos);
  EXPECT_EQ(conflicts[1].index, 3U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE did = 'did:plc:x3'"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE did IN ('did:plc:x2', 'did:plc:x4')"),
            "2");
  // Known accounts use no share.
  auto again =
      batch_of(made_write("did:plc:a", kFollow, "3l2s5xxv2ze2h", 6, made_follow("did:plc:b")));
  EXPECT_TRUE(resolve(again).empty());
  // A repository may mention any number.
  auto history = batch_of(made_write("did:plc:a", kFollow, kKey, 6, made_follow("did:plc:x5")));
  history[0].event.source = event::EventSource::Backfill;
  EXPECT_TRUE(resolve(history).empty());
}

TEST_F(ResolverTest, makes_a_stub_of_a_post_once) {
  auto first = batch_of(
      made_write("did:plc:a", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))),
      made_write("did:plc:c", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))),
      made_write("did:plc:c", kLike, "3l2s5xxv2ze2f", 5,
                 made_like("at://did:plc:b/app.bsky.feed.generator/hot")));
  EXPECT_TRUE(resolve(first).empty());
  EXPECT_EQ(value("SELECT string_agg(concat_ws(',', bsky.uri(actor_id, 1, rkey), rev, indexed_at, "
                  "cid IS NULL, is_deleted), ';') FROM bsky.posts"),
            post_uri("did:plc:b", "3l2s5xxv2ze2d") + ",0,2026-01-02 00:00:00+00,t,f");
  clock_.advance(std::chrono::hours(1));
  SharedIds forgetful;
  auto again = batch_of(
      made_write("did:plc:a", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))));
  EXPECT_TRUE(Resolver(session(), forgetful, clock_).resolve(again).empty());
  EXPECT_EQ(value("SELECT indexed_at FROM bsky.posts"), "2026-01-02 00:00:00+00");
}

TEST_F(ResolverTest, what_is_known_needs_no_database) {
  const auto make = [] {
    return batch_of(
        made_write("did:plc:a", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))));
  };
  auto first = make();
  resolve(first);
  session().run("DROP TABLE bsky.actors, bsky.posts, bsky.collections CASCADE");
  auto second = make();
  EXPECT_TRUE(resolve(second).empty());
  EXPECT_EQ(second[0].actor_id, first[0].actor_id);
}

TEST_F(ResolverTest, accounts_that_exist_burn_no_ids) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now()), "
      "('did:plc:b', now())");
  auto batch = batch_of(made_write("did:plc:a", kFollow, kKey, 5, made_follow("did:plc:b")),
                        made_write("did:plc:c", kFollow, kKey, 5, made_follow("did:plc:a")));
  resolve(batch);
  EXPECT_EQ(batch[0].actor_id, 1);
  EXPECT_EQ(drawn_of(batch[1].actor_id), 3);
  EXPECT_EQ(value("SELECT last_value FROM bsky.actors_id_seq"), "3");
}

TEST_F(ResolverTest, begins_with_all_accounts_that_are_there) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) SELECT 'did:web:n' || n || '.test', now() "
      "FROM generate_series(1, 120001) n");
  fill_with_actors(database_.url(), ids_.actors);
  EXPECT_TRUE(ids_.actors.holds_all());
  for (const int n : {1, 50'000, 50'001, 60'000, 60'001, 110'000, 110'001, 120'001}) {
    EXPECT_EQ(ids_.actors.find("did:web:n" + std::to_string(n) + ".test"), n);
  }
  IdCache small(100'000);
  fill_with_actors(database_.url(), small);
  EXPECT_FALSE(small.holds_all());
  EXPECT_EQ(small.size(), 0U);
}

TEST_F(ResolverTest, identity_and_account_events_get_their_account_and_rejections_nothing) {
  UnresolvedEvent identity;
  identity.did = "did:plc:a";
  identity.body = event::IdentityChange{};
  UnresolvedEvent account;
  account.did = "did:plc:b";
  account.body = event::AccountChange{};
  UnresolvedEvent rejection;
  rejection.did = "what is this";
  rejection.body = event::Rejection{};
  auto batch = batch_of(std::move(identity), std::move(account), std::move(rejection));
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_GT(batch[0].actor_id, 0);
  EXPECT_GT(batch[1].actor_id, 0);
  EXPECT_EQ(batch[2].actor_id, 0);
  EXPECT_EQ(count("bsky.actors"), 2);
}

TEST_F(ResolverTest, odd_record_keys_keep_their_text) {
  const std::string longest(512, 'k');
  auto batch = batch_of(
      made_write("did:plc:a", "com.example.thing", longest, 5, {{"a", 1}}),
      made_write("did:plc:a", kPost, "c222222222222", 5, made_post("above")),
      made_write("did:plc:a", "app.bsky.actor.profile", "self", 5, nlohmann::json::object()),
      made_write("did:plc:a", kPost, kKey, 5, made_post("plain")),
      made_write("did:plc:b", kLike, kKey, 5,
                 made_like("at://did:plc:a/app.bsky.feed.generator/hot")));
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', collection_id, left(text, 13), length(text)), "
                  "',' ORDER BY collection_id) FROM bsky.rkeys"),
            "1 c222222222222 13,6 hot 3,1000 kkkkkkkkkkkkk 512");
  for (const auto& event : batch) {
    EXPECT_EQ(
        value("SELECT bsky.rkey_text(" + std::to_string(event.actor_id) + ", " +
              std::to_string(event.collection_id) + ", " + std::to_string(event.rkey_number) + ")"),
        event.change().rkey);
  }
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(count("bsky.rkeys"), 3);
}

TEST_F(ResolverTest, a_text_that_differs_under_its_number_is_a_conflict) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now()); "
      "INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text) VALUES "
      "(1, 1, bsky.rkey_number('mine'), 'theirs')");
  auto batch = batch_of(
      made_write("did:plc:b", kFollow, kKey, 5, made_follow("did:plc:a")),
      made_write("did:plc:a", kPost, "mine", 5, made_post("own key")),
      made_delete("did:plc:a", kPost, "mine", 6),
      made_write("did:plc:b", kLike, kKey, 5, made_like(post_uri("did:plc:a", "mine"))),
      made_write("did:plc:b", kLike, "3l2s5xxv2ze2d", 5, made_like(post_uri("did:plc:a", kKey))));
  const auto conflicts = resolve(batch);
  ASSERT_EQ(conflicts.size(), 3U);
  EXPECT_EQ(conflicts[0].index, 1U);
  EXPECT_EQ(conflicts[1].index, 2U);
  EXPECT_EQ(conflicts[2].index, 3U);
  EXPECT_THAT(conflicts[0].reason, HasSubstr("'mine'"));
  EXPECT_THAT(conflicts[0].reason, HasSubstr("'theirs'"));
  // The other rows are unchanged, and no stub has the wrong key.
  EXPECT_EQ(value("SELECT string_agg(bsky.rkey_text(actor_id, 1, rkey), ',') FROM bsky.posts"),
            kKey);
  EXPECT_EQ(value("SELECT text FROM bsky.rkeys"), "theirs");
}

TEST_F(ResolverTest, a_delete_of_an_unknown_odd_key_stores_no_text) {
  auto batch = batch_of(made_delete("did:plc:a", "com.example.thing", "odd", 5));
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(batch[0].rkey_number, tables::rkey_number("odd").value);
  EXPECT_EQ(count("bsky.rkeys"), 0);
}

TEST_F(ResolverTest, may_be_called_again_after_the_server_failed) {
  auto batch = batch_of(
      made_write("did:plc:a", "com.example.thing", "odd", 5, {{"a", 1}}),
      made_write("did:plc:a", kLike, kKey, 5, made_like(post_uri("did:plc:b", "3l2s5xxv2ze2d"))));
  for (const char* table : {"actors", "collections", "rkeys", "posts"}) {
    const std::string name = std::string("bsky.") + table;
    session().run("ALTER TABLE " + name + " RENAME TO away");
    EXPECT_THROW(resolve(batch), postgres::DefectError) << table;
    session().run("ALTER TABLE bsky.away RENAME TO " + std::string(table));
  }
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(value("SELECT concat_ws(' ', skua.newest_drawn_number(), "
                  "(SELECT last_value FROM bsky.actors_id_seq), (SELECT count(*) FROM bsky.posts), "
                  "(SELECT count(*) FROM bsky.rkeys))"),
            "2 2 1 1");
}

TEST_F(ResolverTest, a_name_that_cannot_be_stored_is_an_error_of_the_data) {
  UnresolvedEvent odd;
  odd.did = std::string("did:plc:a\0b", 11);
  odd.body = event::IdentityChange{};
  auto batch = batch_of(std::move(odd));
  EXPECT_THROW(resolve(batch), postgres::DataError);
}

/// Threads as the worker pool has them: each with its session, all with the same memory.
class ResolverRaceTest : public ResolverTest {
 protected:
  /// `pairs`: of events, in a batch of each thread and round.
  void race(std::vector<SharedIds*> memories, int rounds, int pairs = 20) {
    const std::string url = database_.url();
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < memories.size(); ++t) {
      threads.emplace_back([&, t, pairs] {
        postgres::Session own(url, "racer");
        std::mt19937 random(static_cast<unsigned>(t));
        for (int round = 0; round < rounds; ++round) {
          const auto name = [&](int spread) {
            return "did:plc:n" +
                   std::to_string(round * pairs / 2 + static_cast<int>(random() % spread));
          };
          std::vector<ResolvedEvent> batch;
          for (int i = 0; i < pairs; ++i) {
            batch.push_back(
                {made_write(name(2 * pairs), kFollow, kKey, 5, made_follow(name(2 * pairs)))});
            batch.push_back(
                {made_write(name(2 * pairs), kLike, "odd-" + std::to_string(random() % 9), 5,
                            made_like(post_uri(name(2 * pairs), kKey)))});
          }
          EXPECT_TRUE(Resolver(own, *memories[t], clock_).resolve(batch).empty());
          for (const auto& event : batch) {
            const auto [place, is_new] = seen_[t].try_emplace(event.event.did, event.actor_id);
            EXPECT_EQ(place->second, event.actor_id) << event.event.did;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }

  void expect_ids_as_stored() {
    const postgres::Rows rows = session().run("SELECT did, id FROM bsky.actors");
    std::map<std::string, AccountNumber> stored;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      stored[std::string(rows.text(i, 0))] = rows.int8(i, 1);
    }
    for (const auto& seen : seen_) {
      for (const auto& [did, id] : seen) EXPECT_EQ(stored.at(did), id) << did;
    }
  }

  std::vector<std::map<std::string, AccountNumber>> seen_ =
      std::vector<std::map<std::string, AccountNumber>>(6);
};

TEST_F(ResolverRaceTest, threads_of_one_process_burn_no_id) {
  race({&ids_, &ids_, &ids_, &ids_, &ids_, &ids_}, 15);
  expect_ids_as_stored();
  EXPECT_EQ(value("SELECT skua.newest_drawn_number() = count(*) FROM bsky.actors"), "t");
  EXPECT_EQ(value("SELECT last_value = (SELECT count(*) FROM bsky.actors) "
                  "FROM bsky.actors_id_seq"),
            "t");
}

TEST_F(ResolverRaceTest, large_batches_of_one_process_burn_no_id_either) {
  race({&ids_, &ids_, &ids_, &ids_}, 6, 200);
  expect_ids_as_stored();
  EXPECT_EQ(value("SELECT last_value = (SELECT count(*) FROM bsky.actors) "
                  "FROM bsky.actors_id_seq"),
            "t");
}

TEST_F(ResolverRaceTest, processes_agree_on_ids) {
  SharedIds other;
  race({&ids_, &other, &ids_, &other}, 15);
  expect_ids_as_stored();
  EXPECT_EQ(value("SELECT count(*) = count(DISTINCT did) FROM bsky.actors"), "t");
}

TEST_F(ResolverRaceTest, processes_with_large_batches_agree_on_ids_and_stubs) {
  SharedIds other;
  race({&ids_, &other, &ids_, &other}, 6, 200);
  expect_ids_as_stored();
  EXPECT_EQ(value("SELECT count(*) = count(DISTINCT did) FROM bsky.actors"), "t");
  // The last liked post of each thread's last batch, and with it all before it.
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts AS p LEFT JOIN bsky.actors AS a "
                  "ON a.id = p.actor_id WHERE a.id IS NULL OR p.rev <> 0"),
            "0");
}

/// Many accounts and posts at once are appended by COPY.
class ResolverCopyTest : public ResolverTest {
 protected:
  static constexpr int kMany = 100;

  /// `kMany` likes of posts of different accounts, whose numbers begin with `from`.
  static std::vector<ResolvedEvent> likes(int from) {
    std::vector<ResolvedEvent> batch;
    for (int i = from; i < from + kMany; ++i) {
      batch.push_back({made_write("did:plc:liker", kLike, "odd-" + std::to_string(i), 5,
                                  made_like(post_uri("did:plc:n" + std::to_string(i), kKey)))});
    }
    return batch;
  }
};

TEST_F(ResolverCopyTest, what_is_there_already_stays_as_it_is) {
  auto some = likes(0);
  ASSERT_TRUE(resolve(some).empty());
  session().run("UPDATE bsky.posts SET rev = 7 WHERE actor_id % 2 = 0");
  const std::int64_t marked = count("bsky.posts WHERE rev = 7");
  ASSERT_GT(marked, 0);
  // Nothing is known any more, as after a restart.
  SharedIds fresh;
  auto both = likes(kMany / 2);
  ASSERT_TRUE(Resolver(session(), fresh, clock_).resolve(both).empty());
  EXPECT_EQ(count("bsky.actors"), 1 + kMany + kMany / 2);
  EXPECT_EQ(count("bsky.posts"), kMany + kMany / 2);
  EXPECT_EQ(count("bsky.posts WHERE rev = 7"), marked);
  EXPECT_EQ(value("SELECT skua.newest_drawn_number() = count(*) FROM bsky.actors"), "t");
}

/// A process that has read all accounts does not expect accounts of another process.
TEST_F(ResolverCopyTest, accounts_that_another_process_inserted_are_found) {
  for (const std::size_t count : {5U, 200U}) {
    SCOPED_TRACE(count);
    ids_.actors.set_holds_all(true);
    std::vector<ResolvedEvent> batch;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string did = "did:plc:" + std::to_string(count) + "x" + std::to_string(i);
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
    }
    const std::string other = "did:plc:" + std::to_string(count) + "x3";
    const std::string id = value("INSERT INTO bsky.actors (did, indexed_at) VALUES ('" + other +
                                 "', now()) RETURNING id");
    EXPECT_TRUE(resolve(batch).empty());
    EXPECT_EQ(std::to_string(batch[3].actor_id), id);
    EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE did LIKE 'did:plc:" +
                    std::to_string(count) + "x%'"),
              std::to_string(count));
    // A failed COPY is expensive, so the next batch looks up its accounts first.
    EXPECT_EQ(ids_.actors.holds_all(), count < 50);
  }
}

/// A process that seems to know all posts does not expect a post of another process.
TEST_F(ResolverCopyTest, a_post_that_seemed_not_to_be_there_stays_as_it_is) {
  auto some = likes(0);
  ASSERT_TRUE(resolve(some).empty());
  while (!ids_.posts.seems_complete()) ids_.posts.looked_up(false);
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at) "
      "SELECT actor_id, rkey + 1, 9, now() FROM bsky.posts LIMIT 1");
  const auto of_next_key = [&] {
    std::vector<ResolvedEvent> batch;
    const std::string next = atproto::Tid{atproto::Tid::parse(kKey)->value + 1}.to_string();
    for (int i = 0; i < kMany; ++i) {
      batch.push_back({made_write("did:plc:liker", kLike, "more-" + std::to_string(i), 5,
                                  made_like(post_uri("did:plc:n" + std::to_string(i), next)))});
    }
    return batch;
  };
  auto more = of_next_key();
  ASSERT_TRUE(resolve(more).empty());
  EXPECT_EQ(count("bsky.posts"), 2 * kMany);
  EXPECT_EQ(count("bsky.posts WHERE rev = 9"), 1);
  EXPECT_FALSE(ids_.posts.seems_complete());
}

TEST_F(ResolverCopyTest, a_new_account_whose_posts_are_there_before_it_is_no_harm) {
  // Another process has written posts of an id between our two transactions.
  session().run(
      "CREATE FUNCTION early() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF NEW.did LIKE '%n7' THEN INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at) VALUES "
      "(NEW.id, " +
      std::to_string(tables::rkey_number(kKey).value) +
      ", 9, now()); END IF; RETURN NEW; END $$; "
      "CREATE TRIGGER early BEFORE INSERT ON bsky.actors FOR EACH ROW EXECUTE FUNCTION early()");
  auto batch = likes(0);
  ASSERT_TRUE(resolve(batch).empty());
  EXPECT_EQ(count("bsky.posts"), kMany);
  EXPECT_EQ(count("bsky.posts WHERE rev = 9"), 1);
}

TEST_F(ResolverCopyTest, a_name_that_cannot_be_stored_is_an_error_here_too) {
  auto batch = likes(0);
  UnresolvedEvent odd;
  odd.did = std::string("did:plc:a\0b", 11);
  odd.body = event::IdentityChange{};
  batch.push_back({std::move(odd)});
  EXPECT_THROW(resolve(batch), postgres::DataError);
}

TEST_F(ResolverCopyTest, numbers_that_were_not_used_are_kept) {
  session().run("UPDATE skua.account_groups SET numbers_have_group = false");
  ActorNumbers numbers;
  const std::vector<std::string_view> dids(7, "did:plc:a");
  const std::vector<AccountNumber> drawn = numbers.take(session(), std::span(dids).first(5));
  numbers.give_back(drawn);
  EXPECT_THAT(numbers.take(session(), dids), testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7));
}

/// The sequence returns numbers that accounts have, as after a restore of the rows alone. The
/// numbers of the database have no groups: with groups, a number of the sequence conflicts only if
/// the group is the same, too.
class ResolverBehindTest : public ResolverTest {
 protected:
  void SetUp() override {
    ResolverTest::SetUp();
    session().run(
        "UPDATE skua.account_groups SET numbers_have_group = false; "
        "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE "
        "SELECT n, 'did:plc:old' || n, now() FROM generate_series(1, 500) AS n");
  }
  static std::vector<ResolvedEvent> news(const std::string& name, int count) {
    std::vector<ResolvedEvent> batch;
    for (int i = 0; i < count; ++i) {
      const std::string did = "did:plc:" + name + std::to_string(i);
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
    }
    return batch;
  }
  void expect_sound(int accounts) {
    EXPECT_EQ(count("bsky.actors"), accounts);
    EXPECT_EQ(value("SELECT max(id) <= (SELECT last_value FROM bsky.actors_id_seq) "
                    "FROM bsky.actors"),
              "t");
  }
};

TEST_F(ResolverBehindTest, is_mended_by_the_first_copy_that_meets_it) {
  auto batch = news("many", 100);
  EXPECT_TRUE(resolve(batch).empty());
  expect_sound(600);
  for (int i = 0; i < 5; ++i) {
    auto more = news("more" + std::to_string(i) + "x", 100);
    EXPECT_TRUE(resolve(more).empty());
  }
  expect_sound(1'100);
  EXPECT_EQ(value("SELECT last_value FROM bsky.actors_id_seq"), "1100") << "numbers were burnt";
}

TEST_F(ResolverBehindTest, is_mended_by_the_first_insert_that_meets_it) {
  auto batch = news("few", 3);
  EXPECT_TRUE(resolve(batch).empty());
  expect_sound(503);
}

TEST_F(ResolverBehindTest, is_mended_by_numbers_that_were_kept_as_well) {
  const std::vector<std::string_view> dids(400, "did:plc:a");
  ids_.numbers.give_back(ids_.numbers.take(session(), dids));
  auto batch = news("many", 100);
  EXPECT_TRUE(resolve(batch).empty());
  auto more = news("more", 100);
  EXPECT_TRUE(resolve(more).empty());
  expect_sound(700);
}

TEST_F(ResolverBehindTest, is_mended_at_the_start) {
  fill_with_actors(database_.url(), ids_.actors);
  expect_sound(500);
  // And is not moved again.
  session().run("SELECT setval('bsky.actors_id_seq', 900)");
  EXPECT_FALSE(raise_actor_sequence(session()));
  EXPECT_EQ(value("SELECT last_value FROM bsky.actors_id_seq"), "900");
}

TEST_F(ResolverTest, a_sequence_behind_numbers_with_groups_is_raised) {
  session().run(
      "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE "
      "SELECT (g::int8 << 46) + n, 'did:plc:old' || g || '_' || n, now() "
      "FROM generate_series(0, 63) AS g, generate_series(1, 120) AS n");
  for (const int many : {100, 3}) {
    std::vector<ResolvedEvent> batch;
    for (int i = 0; i < many; ++i) {
      const std::string did = "did:plc:n" + std::to_string(i) + "of" + std::to_string(many);
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
    }
    EXPECT_TRUE(resolve(batch).empty());
    EXPECT_EQ(value("SELECT skua.newest_drawn_number() <= last_value FROM bsky.actors_id_seq"),
              "t");
    session().run("SELECT setval('bsky.actors_id_seq', 1)");
  }
  EXPECT_EQ(count("bsky.actors"), 64 * 120 + 103);
  EXPECT_EQ(
      value(
          "SELECT bool_and(id >> 46 = bsky.account_group(did)) FROM bsky.actors WHERE did ~ 'of'"),
      "t");
}

TEST_F(ResolverTest, numbers_carry_the_group_of_their_account) {
  for (const int many : {5, 100}) {
    std::vector<ResolvedEvent> batch;
    for (int i = 0; i < many; ++i) {
      const std::string did = "did:plc:n" + std::to_string(i) + "of" + std::to_string(many);
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow("did:plc:friend"))});
    }
    EXPECT_TRUE(resolve(batch).empty());
    for (const ResolvedEvent& event : batch) {
      EXPECT_EQ(event.actor_id >> kDrawnBits, atproto::account_group(event.event.did));
    }
  }
  EXPECT_EQ(value("SELECT bool_and(id >> 46 = bsky.account_group(did)) FROM bsky.actors"), "t");
  EXPECT_EQ(value("SELECT count(DISTINCT id & (1::int8 << 46) - 1) FROM bsky.actors"), "106");
}

TEST_F(ResolverTest, an_event_of_a_foreign_group_is_a_conflict) {
  const auto group = atproto::account_group("did:plc:own");
  session().run("UPDATE skua.account_groups SET owned = '{" + std::to_string(group) + "}'");
  std::string foreign = "did:plc:a";
  while (atproto::account_group(foreign) == group) foreign += 'a';
  std::vector<ResolvedEvent> batch;
  batch.push_back({made_write("did:plc:own", kFollow, kKey, 1, made_follow(foreign))});
  batch.push_back({made_write(foreign, kFollow, kKey, 1, made_follow("did:plc:own"))});
  const auto conflicts = resolve(batch);
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].index, 1U);
  EXPECT_EQ(conflicts[0].reason, "the account is of group " +
                                     std::to_string(atproto::account_group(foreign)) +
                                     ", which this database does not own");
  EXPECT_EQ(count("bsky.actors"), 2) << "an account that a record mentions has a number";
}

TEST_F(ResolverTest, a_did_that_collides_gives_its_numbers_back) {
  ids_.actors.set_holds_all(true);
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:n7', now())");
  std::vector<ResolvedEvent> batch;
  for (int i = 0; i < 100; ++i) {
    const std::string did = "did:plc:n" + std::to_string(i);
    batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
  }
  EXPECT_TRUE(resolve(batch).empty());
  std::vector<ResolvedEvent> more;
  for (int i = 100; i < 200; ++i) {
    const std::string did = "did:plc:n" + std::to_string(i);
    more.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
  }
  EXPECT_TRUE(resolve(more).empty());
  // The second COPY took the numbers that the first gave back.
  EXPECT_EQ(value("SELECT last_value - count(*) FROM bsky.actors, bsky.actors_id_seq "
                  "GROUP BY last_value"),
            "0");
}

TEST_F(ResolverTest, accounts_of_another_process_burn_no_ids) {
  ids_.actors.set_holds_all(true);
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now()), "
      "('did:plc:b', now())");
  for (int i = 0; i < 3; ++i) {
    SharedIds fresh;
    fresh.actors.set_holds_all(true);
    auto batch = batch_of(made_write("did:plc:a", kFollow, kKey, 5, made_follow("did:plc:b")));
    Resolver(session(), fresh, clock_).resolve(batch);
    EXPECT_EQ(batch[0].actor_id, 1);
  }
  EXPECT_EQ(value("SELECT last_value FROM bsky.actors_id_seq"), "2");
}

TEST_F(ResolverTest, a_sequence_without_numbers_is_no_fault_of_the_data) {
  session().run("SELECT setval('bsky.actors_id_seq', 70368744177663)");
  for (const int many : {1, 100}) {
    std::vector<ResolvedEvent> batch;
    for (int i = 0; i < many; ++i) {
      const std::string did = "did:plc:n" + std::to_string(i);
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
    }
    try {
      resolve(batch);
      ADD_FAILURE() << "there was a number for " << many;
    } catch (const postgres::DefectError& error) {
      EXPECT_EQ(error.sqlstate(), "2200H");
      EXPECT_THAT(error.what(), testing::HasSubstr("reached maximum value"));
    }
  }
  EXPECT_EQ(count("bsky.actors"), 0);
}

}  // namespace
}  // namespace skua::ids::resolver_test
