#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "consumers/projection_upkeep.hpp"
#include "integration/account_events.hpp"
#include "support/change_log.hpp"
#include "support/made_events.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"

namespace skua::consumers::post_rules_test {
namespace {

using event::UnresolvedEvent;
using nlohmann::json;

const std::string kPost = "app.bsky.feed.post";
const std::string kThreadgate = "app.bsky.feed.threadgate";
const std::string kPostgate = "app.bsky.feed.postgate";
const std::string kRepost = "app.bsky.feed.repost";
const std::string kFollow = "app.bsky.graph.follow";
const std::string kList = "app.bsky.graph.list";
const std::string kListItem = "app.bsky.graph.listitem";
constexpr const char* kTime = "2026-01-02T03:04:05.678Z";

std::string did(int account) {
  return fmt::format("did:plc:account{}", account);
}

std::string key(int n) {
  return atproto::Tid{(std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n)}.to_string();
}

std::string uri(int account, int n, const std::string& collection = kPost) {
  return "at://" + did(account) + "/" + collection + "/" + key(n);
}

json reference(const std::string& to) {
  return {{"uri", to}, {"cid", atproto::Cid::of(as_bytes("any")).to_string()}};
}

json post() {
  return test::made_post("text");
}

json reply(const std::string& root, const std::string& parent) {
  json record = post();
  record["reply"] = {{"root", reference(root)}, {"parent", reference(parent)}};
  return record;
}

json quote(const std::string& of) {
  json record = post();
  record["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", reference(of)}};
  return record;
}

json mention(const std::string& of) {
  json record = post();
  record["facets"] = {
      {{"index", {{"byteStart", 0}, {"byteEnd", 4}}},
       {"features", {{{"$type", "app.bsky.richtext.facet#mention"}, {"did", of}}}}}};
  return record;
}

/// `rules`: names of rules, or the URI of a list.
json threadgate(const std::string& of, const std::vector<std::string>& rules,
                const std::vector<std::string>& hidden = {}) {
  json allow = json::array();
  for (const std::string& rule : rules) {
    json one = {{"$type", kThreadgate + "#" + (rule.starts_with("at://") ? "listRule" : rule)}};
    if (rule.starts_with("at://")) one["list"] = rule;
    allow.push_back(one);
  }
  json gate = {{"$type", kThreadgate}, {"post", of}, {"createdAt", kTime}, {"allow", allow}};
  if (!hidden.empty()) gate["hiddenReplies"] = hidden;
  return gate;
}

json postgate(const std::string& of, bool disabled, const std::vector<std::string>& detached = {}) {
  json gate = {{"$type", kPostgate}, {"post", of}, {"createdAt", kTime}};
  if (disabled) gate["embeddingRules"] = {{{"$type", kPostgate + "#disableRule"}}};
  if (!detached.empty()) gate["detachedEmbeddingUris"] = detached;
  return gate;
}

json list_item(const std::string& list, const std::string& subject) {
  return {{"$type", kListItem}, {"list", list}, {"subject", subject}, {"createdAt", kTime}};
}

class PostRulesTest : public test::AccountEventsTest {
 protected:
  void put(int account, const std::string& collection, int n, const json& record) {
    write(test::made_write(did(account), collection, key(n), ++rev_, record));
  }
  void remove(int account, const std::string& collection, int n) {
    write(test::made_delete(did(account), collection, key(n), ++rev_));
  }
  /// The posts of accounts that break a rule: "2/5 threadgate, 3/6 hidden".
  std::string broken() {
    test::fold_changes(session());
    EXPECT_EQ(test::projection_differences(session()), "");
    EXPECT_EQ(test::change_log_differences(session()), "");
    prepare_fold_session(session());
    return value(
        "SELECT coalesce(string_agg(concat_ws(' ', substr(a.did, 16) || '/' || (p.rkey & 255), "
        "CASE WHEN p.violates_threadgate THEN 'threadgate' END, "
        "CASE WHEN p.violates_embedding_rules THEN 'embedding' END, "
        "CASE WHEN p.is_hidden THEN 'hidden' END, CASE WHEN p.has_invalid_root THEN 'root' END), "
        "', ' ORDER BY a.did, p.rkey), '') FROM bsky.post_rules AS p JOIN bsky.actors AS a ON a.id "
        "= p.actor_id WHERE violates_threadgate OR violates_embedding_rules OR is_hidden OR "
        "has_invalid_root");
  }
  /// The number of replies to the post of an account.
  std::string replies(int account, int n) {
    return value(
        "SELECT coalesce(sum(replies), 0) FROM bsky.post_stats WHERE actor_id = "
        "bsky.actor_id('" +
        did(account) + "') AND rkey & 255 = " + std::to_string(n));
  }
  /// The recipients and reasons of the notifications about a post.
  std::string notified(int account, int n) {
    return value(
        "SELECT coalesce(string_agg(substr(recipient_did, 16) || ' ' || reason, ', ' ORDER BY 1), "
        "'') FROM (SELECT recipient_did, reason FROM bsky.notifications_view WHERE did = '" +
        did(account) + "' AND collection_id = 1 AND rkey & 255 = " + std::to_string(n) +
        " ORDER BY 1) AS n");
  }

  std::uint64_t rev_ = std::uint64_t{1} << 60;
};

TEST_F(PostRulesTest, a_reply_that_the_threadgate_does_not_allow_neither_counts_nor_notifies) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(replies(1, 1), "1");
  EXPECT_EQ(notified(2, 2), "1 reply");

  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  put(1, kPost, 3, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "2/2 threadgate") << "a late gate; the author of the thread always passes";
  EXPECT_EQ(replies(1, 1), "1");
  EXPECT_EQ(notified(2, 2), "");

  remove(1, kThreadgate, 1);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(replies(1, 1), "2");
  EXPECT_EQ(notified(2, 2), "1 reply");

  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  EXPECT_EQ(broken(), "2/2 threadgate");
  remove(2, kPost, 2);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(replies(1, 1), "1") << "a reply that does not count is deleted";
}

TEST_F(PostRulesTest, each_rule_of_a_threadgate_allows_its_accounts_whenever_they_are_named) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, mention(did(2)));
  put(1, kThreadgate, 1,
      threadgate(uri(1, 1), {"mentionRule", "followerRule", "followingRule", uri(1, 7, kList)}));
  for (const int account : {2, 3, 4, 5, 6}) put(account, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "3/2 threadgate, 4/2 threadgate, 5/2 threadgate, 6/2 threadgate");
  put(3, kFollow, 1, test::made_follow(did(1)));
  put(1, kFollow, 2, test::made_follow(did(4)));
  put(1, kListItem, 3, list_item(uri(1, 7, kList), did(5)));
  put(6, kListItem, 4, list_item(uri(1, 7, kList), did(6)));
  EXPECT_EQ(broken(), "6/2 threadgate") << "only the owner of a list fills it";
  EXPECT_EQ(replies(1, 1), "4");
  remove(3, kFollow, 1);
  remove(1, kFollow, 2);
  remove(1, kListItem, 3);
  put(1, kPost, 1, post());
  EXPECT_EQ(broken(),
            "2/2 threadgate, 3/2 threadgate, 4/2 threadgate, 5/2 threadgate, 6/2 threadgate");
  EXPECT_EQ(replies(1, 1), "0");
}

/// Handles change hands. A list item names its list by DID, too.
TEST_F(PostRulesTest, a_list_that_a_threadgate_names_by_handle_allows_nobody) {
  test::add_projections(session(), 10);
  write(test::claim(did(1), "owner.test", 1));
  put(1, kPost, 1, post());
  put(1, kListItem, 3, list_item(uri(1, 7, kList), did(2)));
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {"at://owner.test/" + kList + "/" + key(7)}));
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "2/2 threadgate");
  write(test::claim(did(1), "other.test", 2));
  EXPECT_EQ(broken(), "2/2 threadgate");
}

TEST_F(PostRulesTest, a_threadgate_counts_only_for_the_post_with_its_account_and_key) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  put(1, kThreadgate, 9, threadgate(uri(1, 1), {}));
  put(3, kThreadgate, 1, threadgate(uri(1, 1), {}));
  put(1, kThreadgate, 1, threadgate(uri(1, 5), {}));
  EXPECT_EQ(broken(), "");
}

TEST_F(PostRulesTest, a_hidden_reply_ends_the_notifications_of_the_posts_below_it) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  put(3, kPost, 3, reply(uri(1, 1), uri(2, 2)));
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(notified(3, 3), "1 reply, 2 reply");
  json gate = threadgate(uri(1, 1), {}, {uri(2, 2)});
  gate.erase("allow");
  put(1, kThreadgate, 1, gate);
  EXPECT_EQ(broken(), "2/2 hidden");
  EXPECT_EQ(notified(3, 3), "2 reply");
  EXPECT_EQ(notified(2, 2), "1 reply");
  EXPECT_EQ(replies(1, 1), "1");
}

TEST_F(PostRulesTest, a_quote_that_the_postgate_forbids_does_not_notify) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(1, kPost, 2, quote(uri(1, 1)));
  put(2, kPost, 3, quote(uri(1, 1)));
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(notified(2, 3), "1 quote");
  put(1, kPostgate, 1, postgate(uri(1, 1), true));
  EXPECT_EQ(broken(), "2/3 embedding") << "the author of the post may quote it";
  EXPECT_EQ(notified(2, 3), "");
  put(1, kPostgate, 1, postgate(uri(1, 1), false, {uri(1, 2)}));
  EXPECT_EQ(broken(), "1/2 embedding");
  EXPECT_EQ(notified(2, 3), "1 quote");
}

TEST_F(PostRulesTest, a_late_parent_decides_whether_the_root_is_valid) {
  test::add_projections(session(), 10);
  put(3, kPost, 3, reply(uri(1, 1), uri(2, 2)));
  put(4, kPost, 4, reply(uri(2, 2), uri(2, 2)));
  EXPECT_EQ(broken(), "") << "the parent is not known";
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "4/4 root") << "the stated root is a reply";
  put(2, kPost, 2, reply(uri(5, 5), uri(5, 5)));
  EXPECT_EQ(broken(), "3/3 root, 4/4 root");
  put(2, kPost, 2, post());
  EXPECT_EQ(broken(), "3/3 root");
  remove(2, kPost, 2);
  EXPECT_EQ(broken(), "");
}

/// The reference rebuilds nothing of this after an update, so that a post loses it.
TEST_F(PostRulesTest, two_posts_that_name_each_other_as_parent_have_one_result_in_any_order) {
  test::add_projections(session(), 100);
  put(1, kPost, 1, post());
  const json first = reply(uri(1, 1), uri(3, 3));
  const json second = reply(uri(1, 1), uri(2, 2));
  put(2, kPost, 2, first);
  put(3, kPost, 3, second);
  EXPECT_EQ(broken(), "") << "both state the same thread";
  put(2, kPost, 2, reply(uri(3, 9), uri(3, 3)));
  EXPECT_EQ(broken(), "2/2 root, 3/3 root");
  put(2, kPost, 2, first);
  EXPECT_EQ(broken(), "") << "neither passes its former result on to the other";
}

TEST_F(PostRulesTest, an_update_of_a_post_keeps_its_quotes_reposts_and_broken_rules) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  put(1, kPostgate, 1, postgate(uri(1, 1), true));
  json both = reply(uri(1, 1), uri(1, 1));
  both["embed"] = quote(uri(1, 1))["embed"];
  put(2, kPost, 2, both);
  put(3, kPost, 3, quote(uri(2, 2)));
  put(3, kRepost, 4, {{"$type", kRepost}, {"subject", reference(uri(2, 2))}, {"createdAt", kTime}});
  const auto state = [&] {
    const std::string of = "'" + uri(2, 2) + "'";
    const std::string rules = broken();
    return rules + "; " + value("SELECT string_agg(name, ' ') FROM bsky.quotes_of(" + of + ")") +
           "; " + value("SELECT string_agg(name, ' ') FROM bsky.reposts_of(" + of + ")") + "; " +
           value("SELECT string_agg(text || ' by ' || reposted_by, ' ') FROM bsky.timeline('" +
                 did(3) + "') WHERE reposted_by IS NOT NULL") +
           "; " +
           value(
               "SELECT concat_ws(' ', reposts, quotes) FROM bsky.post_stats WHERE actor_id = "
               "bsky.actor_id('" +
               did(2) + "')") +
           "; " +
           value(
               "SELECT concat_ws(' ', quotes) FROM bsky.post_stats WHERE actor_id = "
               "bsky.actor_id('" +
               did(1) + "')");
  };
  EXPECT_EQ(state(),
            "2/2 threadgate embedding; did:plc:account3; did:plc:account3; "
            "text by did:plc:account3; 1 1; 1");
  both["text"] = "new";
  write(test::made_write(did(2), kPost, key(2), ++rev_, both, event::Operation::Update));
  EXPECT_EQ(state(),
            "2/2 threadgate embedding; did:plc:account3; did:plc:account3; "
            "new by did:plc:account3; 1 1; 1");
  // The posts that they refer to are updated, too.
  json thread = post();
  thread["text"] = "new";
  write(test::made_write(did(1), kPost, key(1), ++rev_, thread, event::Operation::Update));
  EXPECT_EQ(state(),
            "2/2 threadgate embedding; did:plc:account3; did:plc:account3; "
            "new by did:plc:account3; 1 1; 1");
}

/// The reference leaves the counts of other accounts, and quotes, as they were.
TEST_F(PostRulesTest, a_deleted_account_leaves_no_counts_quotes_and_notifications_of_others) {
  test::add_projections(session(), 10);
  const auto shown = [&] {
    test::fold_changes(session());
    return value(
               "SELECT string_agg(concat_ws(' ', substr(a.did, 16), s.followers, s.follows, "
               "s.posts), ', ' ORDER BY a.did) FROM bsky.actor_stats AS s JOIN bsky.actors AS a "
               "ON a.id = s.actor_id WHERE (s.followers, s.follows, s.posts) <> (0, 0, 0)") +
           "; " +
           value(
               "SELECT string_agg(concat_ws(' ', substr(a.did, 16), likes, reposts, replies, "
               "quotes), ', ' ORDER BY a.did, s.rkey) FROM bsky.post_stats AS s JOIN bsky.actors "
               "AS a ON a.id = s.actor_id WHERE (likes, reposts, replies, quotes) <> "
               "(0, 0, 0, 0)") +
           "; " + value("SELECT count(*) FROM bsky.quotes_of('" + uri(1, 1) + "')") + "; " +
           value("SELECT count(*) FROM bsky.starter_packs") + "; " +
           value("SELECT count(*) FROM bsky.notifications_of('" + did(1) + "')");
  };
  put(1, kPost, 1, post());
  const std::string before = shown();
  EXPECT_EQ(before, "1 0 0 1; ; 0; 0; 0");
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  put(2, kPost, 3, quote(uri(1, 1)));
  put(2, kFollow, 1, test::made_follow(did(1)));
  put(2, "app.bsky.feed.like", 1, test::made_like(uri(1, 1)));
  put(2, kRepost, 1, {{"$type", kRepost}, {"subject", reference(uri(1, 1))}, {"createdAt", kTime}});
  const std::string pack = "app.bsky.graph.starterpack";
  put(2, pack, 1,
      {{"$type", pack}, {"name", "Pack"}, {"list", uri(2, 7, kList)}, {"createdAt", kTime}});
  EXPECT_EQ(shown(), "1 1 0 1, 2 0 1 2; 1 1 1 1 1; 1; 1; 5");
  UnresolvedEvent gone = test::actor_event(did(2));
  gone.body = event::AccountChange{false, "deleted", test::at(10), true, {rev_}};
  write(std::move(gone));
  EXPECT_EQ(shown(), before);
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records WHERE did = '" + did(2) + "'"), "0");
}

TEST_F(PostRulesTest, an_exchange_and_a_removal_publish_what_changes) {
  put(1, kPost, 1, post());
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  test::add_projections(session(), 10);
  EXPECT_EQ(broken(), "2/2 threadgate");
  EXPECT_EQ(replies(1, 1), "0");
  rebuild_consumer(session(), "post_rules");
  put(3, kPost, 3, reply(uri(1, 1), uri(1, 1)));
  test::maintain_projections(session());
  EXPECT_EQ(broken(), "2/2 threadgate, 3/3 threadgate");
  EXPECT_EQ(replies(1, 1), "0");
  remove_consumer(session(), "post_rules");
  test::fold_changes(session());
  EXPECT_EQ(replies(1, 1), "2");
  EXPECT_EQ(notified(2, 2), "1 reply");
  EXPECT_EQ(test::change_log_differences(session()), "");
}

/// A check waits for a lane. Meanwhile other changes are appended to the log.
TEST_F(PostRulesTest, a_check_appends_nothing_to_the_log) {
  test::add_projections(session(), 10);
  put(1, kPost, 1, post());
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  EXPECT_EQ(broken(), "");
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  postgres::Session holder(database_.url(), "skua test");
  holder.run("BEGIN");
  holder.run("SELECT FROM skua.consumer_lanes FOR UPDATE");
  postgres::Session checking(database_.url(), "skua test");
  prepare_fold_session(checking);
  std::optional<std::vector<std::string>> differences;
  std::thread check([&] {
    ConsumerMetrics metrics;
    differences = check_projection(checking, "post_rules", std::nullopt, metrics);
  });
  while (!test::a_session_waits_for_a_lock(session())) std::this_thread::yield();
  put(3, kPost, 3, reply(uri(1, 1), uri(1, 1)));
  const std::string end = value("SELECT skua.change_log_end()");
  holder.run("ROLLBACK");
  check.join();
  EXPECT_EQ(differences, std::vector<std::string>());
  EXPECT_EQ(value("SELECT skua.change_log_end()"), end);
  EXPECT_EQ(broken(), "2/2 threadgate, 3/3 threadgate");
}

/// A large thread is judged in parts, and other threads meanwhile.
TEST_F(PostRulesTest, a_large_thread_does_not_delay_other_posts) {
  put(1, kPost, 1, post());
  put(2, kPost, 1, post());
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, parent_actor, parent_rkey, "
      "root_actor, root_rkey) SELECT 900, g, 1, now(), '', p.actor_id, p.rkey, p.actor_id, p.rkey "
      "FROM bsky.posts AS p, generate_series(1, 4500) AS g WHERE p.actor_id = bsky.actor_id('" +
      did(1) + "')");
  test::add_projections(session(), 10'000);
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  put(2, kThreadgate, 1, threadgate(uri(2, 1), {}));
  put(3, kPost, 2, reply(uri(2, 1), uri(2, 1)));
  const auto broken_rules = [&] {
    return value("SELECT count(*) FROM bsky.post_rules WHERE violates_threadgate");
  };
  ConsumerMetrics metrics;
  const auto step = [&] {
    return fold_step(session(), metrics, {.only = "post_rules", .ignores_pause = true});
  };
  EXPECT_EQ(check_projection(session(), "post_rules", std::nullopt, metrics),
            std::vector<std::string>())
      << "a check does the work that waits";
  EXPECT_EQ(broken_rules(), "0") << "and rolls it back";
  EXPECT_EQ(step(), StepResult::Worked);
  EXPECT_EQ(broken_rules(), "1") << "the new reply";
  EXPECT_EQ(step(), StepResult::Worked);
  EXPECT_EQ(broken_rules(), "2001") << "a part of the large thread";
  EXPECT_EQ(step(), StepResult::Worked);
  EXPECT_EQ(step(), StepResult::Worked);
  EXPECT_EQ(broken_rules(), "4501");
  // The projection skips the changes that it has appended to the log itself.
  EXPECT_EQ(step(), StepResult::Worked);
  EXPECT_EQ(step(), StepResult::Idle);
}

/// Accounts take turns in the queue. The projection is not done before the queue is empty.
class PostRulesQueueTest : public PostRulesTest {
 protected:
  /// Posts of the account, each with a reply of the account 9.
  void add_threads(int account, int count) {
    put(account, kPost, 1, post());
    session().run(fmt::format(
        "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid) SELECT p.actor_id, g, 1, "
        "now(), '' FROM bsky.posts AS p, generate_series(1, {0}) AS g WHERE p.actor_id = "
        "bsky.actor_id('{1}'); INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, "
        "parent_actor, parent_rkey, root_actor, root_rkey) SELECT 900, (p.actor_id & "
        "70368744177663) * 100000 + "
        "p.rkey, 1, now(), '', p.actor_id, p.rkey, p.actor_id, p.rkey FROM bsky.posts AS p WHERE "
        "p.actor_id = bsky.actor_id('{1}') AND p.rkey <= {0}",
        count, did(account)));
  }
  /// The account adds a gate, which allows nobody, to each of these threads.
  void add_gates(int account, int count) {
    session().run(fmt::format(
        "INSERT INTO bsky.threadgates (actor_id, rkey, rev, indexed_at, cid, post_actor, "
        "post_rkey, is_restricted, allow_mentioned, allow_followers, allow_following) SELECT "
        "bsky.actor_id('{1}'), g, 1, now(), '', bsky.actor_id('{1}'), g, true, false, false, false "
        "FROM generate_series(1, {0}) AS g ON CONFLICT (actor_id, rkey) DO NOTHING; SELECT "
        "skua.append_changes(array_agg(1::int2), array_agg(1::int2), "
        "array_agg(bsky.actor_id('{1}')), array_agg(4), array_agg(g::int8), array_agg(1::int8), "
        "array_agg(''::bytea), NULL, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}') FROM "
        "generate_series(1, {0}) AS g",
        count, did(account)));
  }
  std::string broken_of(int account) {
    return value(
        "SELECT count(*) FROM bsky.post_rules WHERE violates_threadgate AND root_actor = "
        "bsky.actor_id('" +
        did(account) + "')");
  }
  void add_rules() {
    add_consumer(session(),
                 {.name = "post_rules", .overrides = R"({"pause_ms": 3600000, "batch": 10000})"});
    test::maintain_projections(session());
    session().run("UPDATE skua.consumer_lanes SET served_at = '2020-01-01'");
  }
  /// Without `ignores_pause`: only work that waits is due before the pause ends.
  StepResult step() { return fold_step(session(), metrics_); }
  std::string progress() {
    return value(
        "SELECT behind || ' ' || (lag > interval '0') FROM "
        "skua.consumer_progress('post_rules')");
  }
  ConsumerMetrics metrics_;
};

TEST_F(PostRulesQueueTest, an_account_with_thousands_of_gates_delays_no_other_account) {
  add_threads(1, 3'000);
  add_threads(2, 1);
  add_threads(3, 1);
  add_rules();
  add_gates(1, 3'000);
  add_gates(2, 1);
  add_gates(3, 1);
  step();
  EXPECT_EQ(broken_of(2), "0");
  step();
  EXPECT_EQ(broken_of(2), "1") << "in the first part of the work";
  EXPECT_EQ(broken_of(3), "1");
  const int before = std::stoi(broken_of(1));
  EXPECT_GE(before, 30) << "many keys in a part";
  EXPECT_LT(before, 1'000) << "and not all";
  // It changes them again: what waits is not done twice, and others still have their turn.
  add_gates(1, 3'000);
  session().run("DELETE FROM bsky.threadgates WHERE actor_id = bsky.actor_id('" + did(2) + "')");
  session().run("UPDATE skua.consumer_lanes SET served_at = '2020-01-01'");
  add_gates(2, 1);
  step();
  session().run("DELETE FROM bsky.threadgates WHERE actor_id = bsky.actor_id('" + did(2) + "')");
  step();
  EXPECT_EQ(broken_of(2), "0");
  int steps = 0;
  while (step() == StepResult::Worked && steps < 200) ++steps;
  EXPECT_EQ(broken_of(1), "3000");
  EXPECT_LT(steps, 90);
}

TEST_F(PostRulesQueueTest, work_that_waits_is_part_of_the_progress) {
  add_threads(1, 1'500);
  add_rules();
  add_gates(1, 1'500);
  EXPECT_EQ(progress(), "1500 true");
  step();
  EXPECT_EQ(progress(), "1500 true") << "the changes were read, their work waits";
  const auto lane = [&] { return read_consumers(session()).at(0).lanes.at(0); };
  EXPECT_EQ(lane().pos - lane().done_pos, 1'500);
  EXPECT_EQ(read_consumers(session()).at(0).behind, 1'500);
  session().run("UPDATE skua.change_log SET at = now() - interval '2 minutes'");
  EXPECT_EQ(value("SELECT bsky.is_current('post_rules')"), "f");
  EXPECT_EQ(step(), StepResult::Worked) << "at once, without the pause";
  EXPECT_LT(lane().done_pos, lane().pos);
  while (step() == StepResult::Worked) {
  }
  EXPECT_EQ(lane().done_pos, lane().pos);
  EXPECT_EQ(broken_of(1), "1500");
  EXPECT_EQ(value("SELECT bsky.is_current('post_rules')"), "t");
  EXPECT_EQ(check_projection(session(), "post_rules", std::nullopt, metrics_),
            std::vector<std::string>());
}

/// Someone else's change of the same key does not wait behind an account with many.
TEST_F(PostRulesQueueTest, a_key_has_a_turn_for_each_account_that_caused_it) {
  add_rules();
  const std::string queue =
      "skua.post_rules_queue_" + value("SELECT id FROM skua.consumers WHERE role = 'live'");
  put(1, kPost, 1, post());
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {"followerRule"}));
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  step();
  session().run("UPDATE skua.consumer_lanes SET served_at = '2020-01-01'");
  put(2, kFollow, 1, test::made_follow(did(1)));
  put(1, kFollow, 1, test::made_follow(did(2)));
  step();
  EXPECT_EQ(value("SELECT count(DISTINCT account) FROM " + queue), "2");
}

/// The notifications of the replies follow in parts. Other accounts get their notifications at
/// once.
TEST_F(PostRulesQueueTest, a_changed_gate_of_a_large_thread_delays_no_other_notifications) {
  put(1, kPost, 1, post());
  put(2, kPost, 1, post());
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, parent_actor, "
      "parent_rkey, root_actor, root_rkey) SELECT 900, g, 1, now(), now(), '', p.actor_id, p.rkey, "
      "p.actor_id, p.rkey FROM bsky.posts AS p, generate_series(1, 6000) AS g WHERE p.actor_id = "
      "bsky.actor_id('" +
      did(1) + "')");
  test::add_projections(session(), 10'000);
  const auto of = [&](int account) {
    return value("SELECT count(*) FROM bsky.notifications WHERE recipient = bsky.actor_id('" +
                 did(account) + "')");
  };
  EXPECT_EQ(of(1), "6000");
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {}));
  test::fold_changes(session());
  EXPECT_EQ(of(1), "0");
  // The rules of 6,000 posts change again: their changes are in the log.
  remove(1, kThreadgate, 1);
  const auto step = [&](const char* name) {
    return fold_step(session(), metrics_, {.only = name, .ignores_pause = true});
  };
  while (step("post_rules") == StepResult::Worked) {
  }
  put(3, kPost, 2, reply(uri(2, 1), uri(2, 1)));
  step("notifications");
  EXPECT_EQ(of(2), "1") << "the reply is no work of the queue";
  step("notifications");
  EXPECT_EQ(of(1), "1000");
  put(2, kThreadgate, 1, threadgate(uri(2, 1), {}));
  while (step("post_rules") == StepResult::Worked) {
  }
  step("notifications");
  EXPECT_EQ(of(2), "1") << "the change of the rule is in the queue";
  step("notifications");
  EXPECT_EQ(of(2), "0") << "with a turn of its own";
  EXPECT_LT(std::stoi(of(1)), 6'000);
  test::fold_changes(session());
  EXPECT_EQ(of(1), "6000");
  EXPECT_EQ(check_projection(session(), "notifications", std::nullopt, metrics_),
            std::vector<std::string>());
}

/// A post with more mentions than `bsky.posts.mentions` has.
TEST_F(PostRulesTest, a_mention_behind_many_others_counts) {
  test::add_projections(session(), 10);
  json root = mention(did(200));
  for (int i = 201; i < 240; ++i) root["facets"].push_back(mention(did(i))["facets"][0]);
  root["facets"].push_back(mention(did(2))["facets"][0]);
  put(1, kPost, 1, root);
  put(1, kThreadgate, 1, threadgate(uri(1, 1), {"mentionRule"}));
  put(2, kPost, 2, reply(uri(1, 1), uri(1, 1)));
  put(3, kPost, 3, reply(uri(1, 1), uri(1, 1)));
  EXPECT_EQ(broken(), "3/3 threadgate");
  put(1, kPost, 1, mention(did(3)));
  EXPECT_EQ(broken(), "2/2 threadgate");
}

class PostRulesModelTest : public PostRulesTest, public testing::WithParamInterface<unsigned> {};

/// There are few accounts, keys and threads, so that changes conflict often. The replies of one
/// account arrive before their parents, gates before their posts.
TEST_P(PostRulesModelTest, any_interleaving_gives_the_rows_that_the_records_determine) {
  std::mt19937 random(GetParam());
  const auto any = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  constexpr int kAccounts = 4;
  constexpr int kKeys = 4;
  const auto some_post = [&] { return uri(any(kAccounts), any(kKeys)); };
  test::add_projections(session(), 1 + any(7));
  for (int i = 0; i < 160; ++i) {
    const int account = any(kAccounts);
    const int n = any(kKeys);
    switch (any(11)) {
      case 0:
        put(account, kPost, n, mention(did(any(kAccounts))));
        break;
      case 1:
      case 2:
      case 3:
        put(account, kPost, n, reply(some_post(), some_post()));
        break;
      case 4:
        put(account, kPost, n, quote(some_post()));
        break;
      case 5: {
        std::vector<std::string> rules;
        for (const char* rule : {"mentionRule", "followerRule", "followingRule"}) {
          if (any(3) == 0) rules.emplace_back(rule);
        }
        if (any(2) == 0) rules.push_back(uri(any(kAccounts), 0, kList));
        put(account, kThreadgate, n, threadgate(uri(account, n), rules, {some_post()}));
        break;
      }
      case 6:
        put(account, kPostgate, n, postgate(uri(account, n), any(2) == 0, {some_post()}));
        break;
      case 7:
        put(account, kFollow, n, test::made_follow(did(any(kAccounts))));
        break;
      case 8:
        put(account, kListItem, n, list_item(uri(any(kAccounts), 0, kList), did(any(kAccounts))));
        break;
      default: {
        const std::string* const collections[] = {&kPost,   &kThreadgate, &kPostgate,
                                                  &kFollow, &kListItem,   &kPost};
        remove(account, *collections[any(6)], n);
      }
    }
    if (any(4) == 0) test::fold_changes(session(), any(6));
    if (i == 100) rebuild_consumer(session(), "post_rules");
    if (i == 130) test::maintain_projections(session());
  }
  test::maintain_projections(session());
  broken();
  EXPECT_NE(value("SELECT count(*) FROM bsky.post_rules"), "0");
}

INSTANTIATE_TEST_SUITE_P(Seeds, PostRulesModelTest, testing::Range(0U, 6U));

}  // namespace
}  // namespace skua::consumers::post_rules_test
