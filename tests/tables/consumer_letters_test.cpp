#include "tables/consumer_letters.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::tables::consumer_letters_test {
namespace {

class ConsumerLettersTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session().run(
        "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES (7, "
        "'did:plc:seven', now())");
  }

  static ConsumerLetter letter_at(std::int64_t position, std::int32_t lane = 0) {
    ConsumerLetter letter;
    letter.consumer = "webhook";
    letter.lane = lane;
    letter.timeline = 2;
    letter.position = position;
    letter.operation = "create";
    letter.actor_id = 7;
    letter.collection_id = 1;
    letter.rkey = 55;
    letter.error = "status 400";
    return letter;
  }
  Timestamp at(int seconds) const { return Timestamp(std::chrono::seconds(seconds)); }
  std::int64_t id_at(std::int64_t position) {
    return std::stoll(
        value("SELECT id FROM skua.dead_letter WHERE pos = " + std::to_string(position)));
  }
  std::vector<std::int64_t> leased(std::int32_t lane, const ReplayLease& lease,
                                   std::size_t limit = 10) {
    std::vector<std::int64_t> positions;
    for (const auto& one : lease_requested_letters(session(), "webhook", lane, lease, limit)) {
      positions.push_back(one.letter.position);
    }
    return positions;
  }
};

TEST_F(ConsumerLettersTest, a_letter_names_its_change_and_account) {
  ConsumerLetter letter = letter_at(100, 3);
  letter.payload = {9, 8};
  letter.sqlstate = "57014";
  EXPECT_TRUE(write_consumer_letter(session(), letter, at(1)));
  EXPECT_EQ(value("SELECT concat_ws('|', consumer, key, status, did, timeline, pos, lane, "
                  "operation, actor_id, collection_id, rkey, payload, payload_bytes, error, "
                  "sqlstate, attempts, rev, path, source) FROM skua.dead_letter"),
            "webhook|2-100|dead|did:plc:seven|2|100|3|create|7|1|55|\\x0908|2|status 400|57014|1");
  const LetterRow row = list_letters(session(), {}, 1).at(0);
  ASSERT_TRUE(row.change);
  EXPECT_EQ(row.change->timeline, 2);
  EXPECT_EQ(row.change->position, 100);
  EXPECT_EQ(row.change->lane, 3);
  EXPECT_EQ(row.change->actor_id, 7);
  EXPECT_EQ(row.change->collection_id, 1);
  EXPECT_EQ(row.change->rkey, 55);
}

TEST_F(ConsumerLettersTest, another_failure_of_the_same_change_is_another_attempt) {
  write_consumer_letter(session(), letter_at(100), at(1));
  ConsumerLetter of_another_timeline = letter_at(100);
  of_another_timeline.timeline = 3;
  EXPECT_TRUE(write_consumer_letter(session(), of_another_timeline, at(2)));
  discard_letters(session(), {}, "");
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(100), at(3)));
  EXPECT_EQ(value("SELECT string_agg(concat_ws('|', key, status, attempts, finished_at IS NULL), "
                  "', ' ORDER BY key) FROM skua.dead_letter"),
            "2-100|dead|2|t, 3-100|discarded|1|f");
}

TEST_F(ConsumerLettersTest, letters_belong_to_the_transaction_of_the_caller) {
  session().begin();
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(100), at(1)));
  session().rollback();
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "0");
}

TEST_F(ConsumerLettersTest, letters_are_bounded_by_account_and_leave_room_for_the_indexer) {
  const std::uint64_t before = dead_letter_counters().left_out;
  const ConsumerLetterLimits few{.per_account = 2};
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(1), at(1), few));
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(2), at(1), few));
  EXPECT_FALSE(write_consumer_letter(session(), letter_at(3), at(1), few));
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(1), at(1), few));
  EXPECT_EQ(dead_letter_counters().left_out - before, 1U);

  const std::int64_t size = std::stoll(value("SELECT pg_total_relation_size('skua.dead_letter')"));
  EXPECT_FALSE(
      write_consumer_letter(session(), letter_at(4), at(1), {.table_bytes = size + size / 2}));
  EXPECT_EQ(write_dead_letters(session(), {{"indexer", "k", "did:plc:b", {}, "bad", ""}}, at(1),
                               {.table_bytes = size + size / 2}),
            1U);
  ConsumerLetter large = letter_at(5);
  large.payload.assign(100, 7);
  EXPECT_TRUE(write_consumer_letter(session(), large, at(1), {.payload_bytes = 10}));
  EXPECT_EQ(value("SELECT length(payload) || ' of ' || payload_bytes FROM skua.dead_letter "
                  "WHERE pos = 5"),
            "10 of 100");
}

TEST_F(ConsumerLettersTest, an_account_has_a_share_of_each_consumer) {
  session().run(
      "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES (8, "
      "'did:plc:eight', now())");
  const ConsumerLetterLimits limits{.per_account = 2, .account_bytes = 1'000};
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(1), at(1), limits));
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(2), at(1), limits));
  EXPECT_FALSE(write_consumer_letter(session(), letter_at(3), at(1), limits));
  ConsumerLetter other = letter_at(3);
  other.actor_id = 8;
  EXPECT_TRUE(write_consumer_letter(session(), other, at(1), limits)) << "another account";
  ConsumerLetter same = letter_at(3);
  same.consumer = "archive";
  EXPECT_TRUE(write_consumer_letter(session(), same, at(1), limits)) << "another consumer";
  session().run(
      "UPDATE skua.dead_letter SET status = 'discarded', finished_at = now() WHERE pos = 1");
  EXPECT_TRUE(write_consumer_letter(session(), letter_at(4), at(1), limits)) << "one is finished";
}

TEST_F(ConsumerLettersTest, the_bytes_of_an_account_have_a_limit) {
  const ConsumerLetterLimits limits{.error_bytes = 50, .account_bytes = 1'000};
  ConsumerLetter large = letter_at(1);
  large.payload.assign(600, 7);
  EXPECT_TRUE(write_consumer_letter(session(), large, at(1), limits));
  large.position = 2;
  EXPECT_FALSE(write_consumer_letter(session(), large, at(1), limits)) << "too large together";
  ConsumerLetter verbose = letter_at(3);
  verbose.error.assign(100'000, 'x');
  EXPECT_TRUE(write_consumer_letter(session(), verbose, at(1), limits)) << "the error is cut";
  EXPECT_EQ(value("SELECT length(error) FROM skua.dead_letter WHERE pos = 3"), "50");
}

TEST_F(ConsumerLettersTest, a_payload_beyond_a_limit_is_replaced_by_the_short_one) {
  const auto kept = [&](std::int64_t position) {
    return value(
        "SELECT length(payload) || ' of ' || payload_bytes FROM skua.dead_letter "
        "WHERE pos = " +
        std::to_string(position));
  };
  ConsumerLetter letter = letter_at(1);
  letter.payload.assign(100, 7);
  letter.short_payload.assign(20, 7);
  EXPECT_TRUE(write_consumer_letter(session(), letter, at(1), {.payload_bytes = 100}));
  EXPECT_EQ(kept(1), "100 of 100");
  letter.position = 2;
  EXPECT_TRUE(write_consumer_letter(session(), letter, at(1), {.payload_bytes = 99}));
  EXPECT_EQ(kept(2), "20 of 100");
  // The account has 120 bytes and two errors of 10 bytes.
  letter.position = 3;
  const std::uint64_t before = dead_letter_counters().left_out;
  EXPECT_TRUE(write_consumer_letter(session(), letter, at(1), {.account_bytes = 200}));
  EXPECT_EQ(kept(3), "20 of 100");
  EXPECT_EQ(dead_letter_counters().left_out, before);
  letter.position = 4;
  EXPECT_FALSE(write_consumer_letter(session(), letter, at(1), {.account_bytes = 180}));
}

TEST_F(ConsumerLettersTest, a_letter_that_fails_again_keeps_its_payload) {
  ConsumerLetter letter = letter_at(1);
  letter.payload = {1, 2, 3};
  const std::int64_t id = write_consumer_letter(session(), letter, at(1)).value();
  EXPECT_FALSE(fail_requested_letter(session(), id, 1, "again")) << "not requested";
  EXPECT_TRUE(request_replay(session(), id));
  EXPECT_FALSE(fail_requested_letter(session(), id, 2, "again")) << "another change";
  EXPECT_TRUE(fail_requested_letter(session(), id, 1, "again"));
  letter.payload = {};
  EXPECT_TRUE(write_consumer_letter(session(), letter, at(2)));
  EXPECT_EQ(value("SELECT concat_ws('|', status, attempts, error, payload, payload_bytes) FROM "
                  "skua.dead_letter"),
            "dead|3|status 400|\\x010203|3");
}

TEST_F(ConsumerLettersTest, letters_of_a_lane_are_selected_in_the_order_of_their_positions) {
  for (const std::int64_t position : {30, 10, 20}) {
    write_consumer_letter(session(), letter_at(position, position == 20 ? 1 : 0), at(1));
  }
  ConsumerLetter former = letter_at(40);
  former.timeline = 1;
  write_consumer_letter(session(), former, at(1));
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(letter_ids(session(), {}), (Ids{id_at(40), id_at(10), id_at(20), id_at(30)}));
  EXPECT_EQ(letter_ids(session(), {.lane = 0}), (Ids{id_at(40), id_at(10), id_at(30)}));
  EXPECT_EQ(letter_ids(session(), {.consumer = "webhook", .lane = 1}), Ids{id_at(20)});
}

TEST_F(ConsumerLettersTest, requested_letters_are_leased_in_the_order_of_their_positions) {
  for (const std::int64_t position : {30, 10, 20}) {
    ConsumerLetter letter = letter_at(position, 1);
    letter.payload = {static_cast<std::uint8_t>(position)};
    write_consumer_letter(session(), letter, at(1));
  }
  write_consumer_letter(session(), letter_at(40, 2), at(1));
  const ReplayLease ours{.owner = "ours"};
  EXPECT_TRUE(leased(1, ours).empty());
  for (const std::int64_t position : {30, 10, 40}) {
    EXPECT_TRUE(request_replay(session(), id_at(position)));
  }
  EXPECT_FALSE(request_replay(session(), id_at(30)));
  const auto first = lease_requested_letters(session(), "webhook", 1, ours, 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].id, id_at(10));
  EXPECT_EQ(first[0].letter.position, 10);
  EXPECT_EQ(first[0].letter.timeline, 2);
  EXPECT_EQ(first[0].letter.operation, "create");
  EXPECT_EQ(first[0].letter.actor_id, 7);
  EXPECT_EQ(first[0].letter.rkey, 55);
  EXPECT_EQ(first[0].letter.payload, Bytes{10});
  EXPECT_EQ(first[0].letter.error, "status 400");
  EXPECT_EQ(leased(1, {.owner = "short", .duration = std::chrono::seconds(0)}),
            std::vector<std::int64_t>{30});
  // An expired lease can be taken; the other one cannot.
  EXPECT_EQ(leased(1, {.owner = "theirs"}), std::vector<std::int64_t>{30});
  EXPECT_TRUE(leased(1, {.owner = "theirs"}).empty());
  EXPECT_FALSE(request_replay(session(), id_at(30)));
  EXPECT_TRUE(resolve_replay(session(), id_at(10), "ours", ""));
  EXPECT_FALSE(fail_replay(session(), id_at(30), "short", "no", ""));
  EXPECT_TRUE(fail_replay(session(), id_at(30), "theirs", "no", ""));
  EXPECT_EQ(value("SELECT string_agg(pos || ' ' || status, ', ' ORDER BY pos) "
                  "FROM skua.dead_letter"),
            "10 resolved, 20 dead, 30 dead, 40 requested");
}

TEST_F(ConsumerLettersTest, only_its_consumer_leases_a_letter) {
  write_consumer_letter(session(), letter_at(10), at(1));
  EXPECT_FALSE(lease_letter(session(), id_at(10), {.owner = "ours"}));
  EXPECT_TRUE(request_replay(session(), id_at(10)));
  EXPECT_EQ(leased(0, {.owner = "short", .duration = std::chrono::seconds(0)}),
            std::vector<std::int64_t>{10});
  EXPECT_FALSE(lease_letter(session(), id_at(10), {.owner = "ours"}));
  EXPECT_TRUE(request_replay(session(), id_at(10)));
  EXPECT_EQ(value("SELECT concat_ws('|', status, lease_owner) FROM skua.dead_letter"), "requested");
}

}  // namespace
}  // namespace skua::tables::consumer_letters_test
