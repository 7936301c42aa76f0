#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/tid.hpp"
#include "ids/resolver.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/dead_letter.hpp"
#include "writer/row_writer.hpp"
#include "writer/table_writer.hpp"

/// A reference to a post has a null CID if the row of the post has the CID as its first one (ADR
/// 16). These tests compare the records of all rows with the records that were written.
namespace skua::writer::first_cids_test {
namespace {

using event::Operation;
using event::ResolvedEvent;
using event::UnresolvedEvent;
using test::made_delete;
using test::made_post;
using test::made_write;

const std::string kPost = "app.bsky.feed.post";
const std::string kLike = "app.bsky.feed.like";
const std::string kRepost = "app.bsky.feed.repost";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
constexpr std::uint64_t kFirstKey = std::uint64_t{1} << 60U;
constexpr std::size_t kKeys = 70;

std::string key(std::size_t number) {
  return atproto::Tid{kFirstKey + number}.to_string();
}

std::string uri(const std::string& did, std::size_t number) {
  return "at://" + did + "/" + kPost + "/" + key(number);
}

std::string cid_of(const nlohmann::json& record) {
  return atproto::Cid::of(event::json_to_dag_cbor(record).value()).to_string();
}

/// A version of a post.
nlohmann::json version(const std::string& did, std::size_t number, std::size_t version) {
  return made_post(did + " " + std::to_string(number) + " " + std::to_string(version));
}

nlohmann::json strong_reference(const std::string& did, std::size_t number, std::size_t of) {
  return {{"uri", uri(did, number)}, {"cid", cid_of(version(did, number, of))}};
}

nlohmann::json reaction(const std::string& collection, nlohmann::json subject) {
  return {{"$type", collection},
          {"subject", std::move(subject)},
          {"createdAt", "2026-01-02T03:04:05.678Z"}};
}

/// The state of a process that writes.
struct Process {
  ids::SharedIds ids;
  /// Batches that are resolved and not written yet.
  std::deque<std::vector<ResolvedEvent>> resolved;
};

class FirstCidsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void resolve(Process& process, std::vector<UnresolvedEvent> events) {
    std::vector<ResolvedEvent> batch;
    for (auto& event : events) batch.push_back({std::move(event)});
    EXPECT_TRUE(ids::Resolver(session(), process.ids, clock_).resolve(batch).empty());
    process.resolved.push_back(std::move(batch));
  }
  static void know(Process& process, const std::vector<const ResolvedEvent*>& first_versions) {
    for (const ResolvedEvent* post : first_versions) {
      process.ids.posts.insert({post->actor_id, post->rkey_number},
                               ids::KnownPosts::hash_of(post->change().cid->digest));
    }
  }
  void write_oldest(Process& process) {
    if (process.resolved.empty()) return;
    know(process, live_.write(session(), test::pointers_to(process.resolved.front()), clock_.now())
                      .first_versions);
    process.resolved.pop_front();
  }
  UnresolvedEvent write_of(const std::string& did, const std::string& collection,
                           std::size_t number, const nlohmann::json& record) {
    written_[cid_of(record)] = record;
    return made_write(did, collection, key(number), ++rev_, record, Operation::Update);
  }
  void write(Process& process, UnresolvedEvent event) {
    std::vector<UnresolvedEvent> events;
    events.push_back(std::move(event));
    resolve(process, std::move(events));
    write_oldest(process);
  }
  void bulk(Process& process, std::vector<UnresolvedEvent> events) {
    resolve(process, std::move(events));
    const auto pointers = test::pointers_to(process.resolved.back());
    know(process, BulkWriter(SourceNames("backfill"))
                      .write(session(), pointers, clock_.now())
                      .first_versions);
    process.resolved.pop_back();
  }

  AccountNumber number_of(const std::string& did) {
    return std::stoll(value("SELECT coalesce(bsky.actor_id('" + did + "'), 0)"));
  }
  /// As retention removes posts.
  void discard(const std::string& did, std::size_t number) {
    postgres::Transaction transaction(session());
    Effects effects;
    const RecordKey key{number_of(did), 1, static_cast<std::int64_t>(kFirstKey + number)};
    table_of(1)->discard(session(), std::array{key}, std::nullopt, effects);
    effects.finish(session());
    transaction.commit();
  }
  /// As the deletion of an account.
  void purge(const std::string& did) {
    postgres::Transaction transaction(session());
    Effects effects;
    table_of(1)->purge(session(), number_of(did), static_cast<std::int64_t>(rev_), 1'000, effects);
    effects.finish(session());
    transaction.commit();
  }

  /// Expects that each row has the record that was written.
  void expect_exact() {
    const postgres::Rows rows = session().run(
        "SELECT bsky.cid_text(t.cid), bsky.record_json(t)::text FROM bsky.likes t UNION ALL "
        "SELECT bsky.cid_text(t.cid), bsky.record_json(t)::text FROM bsky.reposts t UNION ALL "
        "SELECT bsky.cid_text(t.cid), bsky.record_json(t)::text FROM bsky.posts t WHERE t.cid IS "
        "NOT NULL");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(nlohmann::json::parse(rows.text(i, 1)), written_.at(std::string(rows.text(i, 0))));
    }
    ASSERT_EQ(value("SELECT count(*) FROM bsky.likes_view v JOIN bsky.likes t USING (actor_id, "
                    "rkey) WHERE v.subject_cid IS DISTINCT FROM "
                    "bsky.record_json(t) -> 'subject' ->> 'cid'"),
              "0");
    ASSERT_EQ(value("SELECT count(*) FROM bsky.posts_view v JOIN bsky.posts t USING (actor_id, "
                    "rkey) CROSS JOIN bsky.record_json(t) AS r WHERE (v.parent_cid, v.root_cid, "
                    "v.quote_cid) IS DISTINCT FROM (r #>> '{reply,parent,cid}', "
                    "r #>> '{reply,root,cid}', r #>> '{embed,record,cid}')"),
              "0");
  }

  test::ManualClock clock_;
  const RowWriter live_{SourceNames("relay:test")};
  std::map<std::string, nlohmann::json> written_;
  std::uint64_t rev_ = 10;
};

std::string nulls(const std::string& table, const std::string& column) {
  return "SELECT string_agg((" + column + " IS NULL)::text, ' ' ORDER BY rkey) FROM bsky." + table;
}

TEST_F(FirstCidsTest, a_like_has_no_cid_of_its_own_if_the_post_has_it) {
  Process process;
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 0)));
  write(process, write_of(kBob, kLike, 1, reaction(kLike, strong_reference(kAlice, 1, 0))));
  write(process, write_of(kBob, kLike, 2, reaction(kLike, strong_reference(kAlice, 1, 1))));
  EXPECT_EQ(value(nulls("likes", "subject_cid")), "true false");
  expect_exact();
  // Another version does not change what the likes name.
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 1)));
  write(process, write_of(kBob, kLike, 3, reaction(kLike, strong_reference(kAlice, 1, 1))));
  write(process, write_of(kBob, kLike, 4, reaction(kLike, strong_reference(kAlice, 1, 0))));
  EXPECT_EQ(value(nulls("likes", "subject_cid")), "true false false true");
  expect_exact();
}

TEST_F(FirstCidsTest, a_stub_has_the_cid_of_its_first_reference) {
  Process process;
  write(process, write_of(kBob, kLike, 1, reaction(kLike, strong_reference(kAlice, 1, 0))));
  write(process, write_of(kBob, kRepost, 1, reaction(kRepost, strong_reference(kAlice, 1, 0))));
  EXPECT_EQ(value(nulls("likes", "subject_cid")), "true");
  EXPECT_EQ(value(nulls("reposts", "subject_cid")), "true");
  EXPECT_EQ(value("SELECT bsky.cid_text(first_cid) FROM bsky.posts"),
            cid_of(version(kAlice, 1, 0)));
  expect_exact();
  // The post itself comes, and its row needs no second CID.
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 0)));
  EXPECT_EQ(value("SELECT first_cid IS NULL FROM bsky.posts"), "t");
  expect_exact();
}

/// A reply whose parent is its root, and a quote.
TEST_F(FirstCidsTest, replies_and_quotes_need_no_cids) {
  Process process;
  nlohmann::json reply = made_post("reply");
  reply["reply"] = {{"parent", strong_reference(kAlice, 1, 0)},
                    {"root", strong_reference(kAlice, 1, 0)}};
  reply["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", strong_reference(kAlice, 2, 0)}};
  write(process, write_of(kBob, kPost, 3, reply));
  EXPECT_EQ(value("SELECT concat_ws(' ', parent_cid IS NULL, root_cid IS NULL, quote_cid IS NULL) "
                  "FROM bsky.posts WHERE cid IS NOT NULL"),
            "t t t");
  expect_exact();
}

TEST_F(FirstCidsTest, a_reference_of_another_process_finds_the_first_cid) {
  Process one;
  Process other;
  write(one, write_of(kBob, kLike, 1, reaction(kLike, strong_reference(kAlice, 1, 0))));
  write(other, write_of(kBob, kLike, 2, reaction(kLike, strong_reference(kAlice, 1, 1))));
  write(other, write_of(kBob, kLike, 3, reaction(kLike, strong_reference(kAlice, 1, 0))));
  EXPECT_EQ(value(nulls("likes", "subject_cid")), "true false true");
  expect_exact();
}

/// The first CID survives everything that removes the post.
TEST_F(FirstCidsTest, a_removed_post_keeps_its_first_cid) {
  Process process;
  const auto like = [&](std::size_t number) {
    write(process, write_of(kBob, kLike, number, reaction(kLike, strong_reference(kAlice, 1, 0))));
  };
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 0)));
  like(1);
  const auto first = [&] {
    return value(
        "SELECT concat_ws(' ', cid IS NULL, is_deleted, text IS NULL, "
        "bsky.cid_text(first_cid)) FROM bsky.posts");
  };
  const std::string cid = cid_of(version(kAlice, 1, 0));
  discard(kAlice, 1);
  EXPECT_EQ(first(), "t f t " + cid);
  expect_exact();
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 2)));
  like(2);
  expect_exact();
  write(process, made_delete(kAlice, kPost, key(1), ++rev_));
  EXPECT_EQ(first(), "t t t " + cid);
  expect_exact();
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 1)));
  expect_exact();
  purge(kAlice);
  EXPECT_EQ(first(), "t t t " + cid);
  like(3);
  EXPECT_EQ(value(nulls("likes", "subject_cid")), "true true true");
  expect_exact();
}

/// Retention reads rows until none is old. A stub without a first CID goes, as before.
TEST_F(FirstCidsTest, retention_finds_no_stub_that_must_stay) {
  Process process;
  write(process, write_of(kAlice, kPost, 1, version(kAlice, 1, 0)));
  write(process, write_of(kBob, kLike, 1, reaction(kLike, strong_reference(kAlice, 2, 0))));
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at) SELECT id, 77, 0, now() FROM "
      "bsky.actors WHERE did = '" +
      std::string(kAlice) + "'");
  const auto expire = [&] {
    postgres::Transaction transaction(session());
    const ExpiredCounts found = discard_expired(
        session(), table_of(1), kPost,
        {.end_block = 100, .before = clock_.now() + std::chrono::hours(24 * 3650), .limit = 100});
    transaction.commit();
    return found.in_table;
  };
  EXPECT_EQ(expire(), 2U);
  EXPECT_EQ(expire(), 0U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL AND first_cid IS NOT NULL"),
            "2");
  expect_exact();
}

/// An hour after a retention of posts was set, rows go to which no reference without a CID refers.
TEST_F(FirstCidsTest, retention_of_posts_deletes_rows_without_relying_references) {
  Process relying;
  Process process;
  process.ids.posts.looked_for_retention(true);
  const auto like = [&](Process& by, std::size_t number, std::size_t post) {
    write(by, write_of(kBob, kLike, number, reaction(kLike, strong_reference(kAlice, post, 0))));
  };
  for (std::size_t i = 0; i < 6; ++i) {
    write(relying, write_of(kAlice, kPost, i, version(kAlice, i, 0)));
  }
  like(relying, 1, 1);
  write(relying, write_of(kBob, kRepost, 2, reaction(kRepost, strong_reference(kAlice, 2, 0))));
  nlohmann::json reply = version(kBob, 3, 0);
  reply["reply"] = {{"root", strong_reference(kAlice, 3, 0)},
                    {"parent", strong_reference(kAlice, 4, 0)}};
  write(relying, write_of(kBob, kPost, 3, reply));
  like(process, 5, 5);
  like(process, 6, 9);
  EXPECT_EQ(value("SELECT count(subject_cid) FROM bsky.likes"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL AND first_cid IS NULL"), "1");
  const auto discard_all = [&] {
    for (std::size_t i = 0; i < 10; ++i) discard(kAlice, i);
    expect_exact();
    return value(
        "SELECT string_agg(right(bsky.tid_text(rkey), 1), '' ORDER BY rkey) FROM "
        "bsky.posts WHERE actor_id = bsky.actor_id('" +
        kAlice + "')");
  };
  session().run(
      "INSERT INTO skua.retention (collection, keep) VALUES ('app.bsky.feed.post', '1 day')");
  EXPECT_EQ(discard_all(), "234567");  // The stub is gone.
  session().run("UPDATE skua.retention SET set_at = set_at - interval '2 hours'");
  for (std::size_t i = 0; i < 6; ++i) {
    write(process, write_of(kAlice, kPost, i, version(kAlice, i, 0)));
  }
  EXPECT_EQ(discard_all(), "3456");
}

/// A history is copied over stubs that have the same CID, and merged with those that have another.
TEST_F(FirstCidsTest, a_history_leaves_the_first_cids_of_stubs) {
  Process process;
  for (std::size_t i = 0; i < 20; ++i) {
    write(process, write_of(kBob, kLike, i, reaction(kLike, strong_reference(kAlice, i, i % 2))));
  }
  std::vector<UnresolvedEvent> posts;
  for (std::size_t i = 0; i < kKeys; ++i) {
    posts.push_back(write_of(kAlice, kPost, i, version(kAlice, i, 0)));
  }
  bulk(process, std::move(posts));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NOT NULL"), std::to_string(kKeys));
  EXPECT_EQ(value("SELECT count(first_cid) FROM bsky.posts"), "10");
  EXPECT_EQ(value("SELECT count(subject_cid) FROM bsky.likes"), "0");
  expect_exact();
  // The process knows the first CIDs of the copied posts.
  write(process, write_of(kBob, kLike, 40, reaction(kLike, strong_reference(kAlice, 40, 0))));
  EXPECT_EQ(value("SELECT count(subject_cid) FROM bsky.likes"), "0");
  expect_exact();
}

/// Two processes, whose batches are written some time after they are resolved.
class RandomOrder : public FirstCidsTest, public testing::WithParamInterface<unsigned> {};

TEST_P(RandomOrder, every_record_stays_exact) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::vector<std::string> dids = {kAlice, kBob, "did:plc:carol"};
  std::array<Process, 2> processes;
  const auto any_did = [&] { return dids[below(dids.size())]; };
  const auto any_reference = [&] { return strong_reference(any_did(), below(12), below(3)); };
  const auto any_post = [&](const std::string& did, std::size_t number) {
    nlohmann::json post = version(did, number, below(3));
    if (below(3) == 0) post["reply"] = {{"parent", any_reference()}, {"root", any_reference()}};
    if (below(4) == 0) {
      post["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", any_reference()}};
    }
    if (below(8) == 0) post["text"] = 5;  // breaks the lexicon
    return post;
  };
  for (int step = 0; step < 400; ++step) {
    Process& process = processes.at(below(2));
    const std::string did = any_did();
    const std::size_t number = below(12);
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const std::string& collection = below(3) == 0 ? kRepost : kLike;
        std::vector<UnresolvedEvent> events;
        for (std::size_t i = 0; i < 3; ++i) {
          events.push_back(
              write_of(did, collection, below(40), reaction(collection, any_reference())));
        }
        resolve(process, std::move(events));
        break;
      }
      case 4:
      case 5:
      case 6: {
        std::vector<UnresolvedEvent> events;
        events.push_back(write_of(did, kPost, number, any_post(did, number)));
        resolve(process, std::move(events));
        break;
      }
      case 7:
        write(process, made_delete(did, kPost, key(number), ++rev_));
        break;
      case 8:
        discard(did, number);
        break;
      case 9:
        if (below(5) == 0) purge(did);
        break;
      case 10:
        if (below(10) == 0) {
          std::vector<UnresolvedEvent> posts;
          for (std::size_t i = 0; i < kKeys; ++i) {
            posts.push_back(write_of(did, kPost, i, any_post(did, i)));
          }
          bulk(process, std::move(posts));
        }
        break;
      default:
        write_oldest(process);
        write_oldest(process);
    }
    if (step % 10 == 0) expect_exact();
    if (HasFatalFailure()) return;
  }
  for (Process& process : processes) {
    while (!process.resolved.empty()) write_oldest(process);
  }
  expect_exact();
  EXPECT_EQ(value("SELECT count(*) > 20 AND count(*) FILTER (WHERE subject_cid IS NULL) > 5 AND "
                  "count(subject_cid) > 5 FROM bsky.likes"),
            "t");
  EXPECT_EQ(value("SELECT count(*) FILTER (WHERE cid IS NOT NULL AND first_cid IS NOT NULL) > 0 "
                  "FROM bsky.posts"),
            "t");
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrder, testing::Range(1U, 9U));

}  // namespace
}  // namespace skua::writer::first_cids_test
