#include "tables/dead_letters.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::tables::dead_letters_test {
namespace {

using namespace std::string_literals;

class DeadLettersTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  Timestamp at(int seconds) const { return Timestamp(std::chrono::seconds(seconds)); }
  const DeadLetter letter_{"indexer", "relay:a.test 5 x/y", "did:plc:a",
                           {0, 1, 2}, "not DAG-CBOR",       ""};
};

TEST_F(DeadLettersTest, a_letter_is_kept_with_its_bytes) {
  EXPECT_EQ(write_dead_letters(session(), {letter_}, at(1)), 1U);
  EXPECT_EQ(
      value("SELECT concat_ws('|', consumer, key, did, payload, error, sqlstate IS NULL, attempts, "
            "status, created_at, last_at) FROM skua.dead_letter"),
      "indexer|relay:a.test 5 x/y|did:plc:a|\\x000102|not DAG-CBOR|t|1|dead|1970-01-01 00:00:01+00|"
      "1970-01-01 00:00:01+00");
}

TEST_F(DeadLettersTest, a_replay_changes_nothing_and_another_outcome_counts) {
  write_dead_letters(session(), {letter_}, at(1));
  EXPECT_EQ(write_dead_letters(session(), {letter_}, at(2)), 0U);
  DeadLetter other = letter_;
  other.error = "refused";
  other.sqlstate = "22P05";
  EXPECT_EQ(write_dead_letters(session(), {other}, at(3)), 1U);
  EXPECT_EQ(value("SELECT concat_ws('|', error, sqlstate, attempts, created_at, last_at) "
                  "FROM skua.dead_letter"),
            "refused|22P05|2|1970-01-01 00:00:01+00|1970-01-01 00:00:03+00");
}

TEST_F(DeadLettersTest, one_key_twice_in_a_batch_is_one_letter) {
  DeadLetter later = letter_;
  later.error = "later";
  EXPECT_EQ(write_dead_letters(session(), {letter_, later}, at(1)), 1U);
  EXPECT_EQ(value("SELECT error FROM skua.dead_letter"), "later");
  EXPECT_EQ(write_dead_letters(session(), {}, at(1)), 0U);
}

TEST_F(DeadLettersTest, texts_are_escaped) {
  DeadLetter letter = letter_;
  letter.payload.clear();
  letter.key = "nul \0 and \xFF and \xE2\x82 and \u20AC\xC3"s;
  letter.error = "\xF0\x9F\x98\x80 \x80"s;
  write_dead_letters(session(), {letter}, at(1));
  EXPECT_EQ(value("SELECT key FROM skua.dead_letter"),
            "nul \\u{0} and \\xff and \\xe2\\x82 and \u20AC\\xc3");
  EXPECT_EQ(value("SELECT error FROM skua.dead_letter"), "\U0001F600 \\x80");
  EXPECT_EQ(value("SELECT payload IS NULL FROM skua.dead_letter"), "t");
}

DeadLetter letter_of(const std::string& did, int number) {
  return {"indexer", "relay:a.test " + std::to_string(number) + " " + did, did, {}, "bad", ""};
}

TEST_F(DeadLettersTest, an_account_has_a_bounded_number_of_letters) {
  const DeadLetterLimits limits{.per_account = 3};
  const std::uint64_t before = dead_letter_counters().left_out;
  std::vector<DeadLetter> letters;
  for (int i = 0; i < 5; ++i) letters.push_back(letter_of("did:plc:a", i));
  letters.push_back(letter_of("did:plc:b", 0));
  EXPECT_EQ(write_dead_letters(session(), letters, at(1), limits), 4U);
  EXPECT_EQ(dead_letter_counters().left_out - before, 2U);
  EXPECT_EQ(write_dead_letters(session(), {letter_of("did:plc:a", 9)}, at(2), limits), 0U);
  EXPECT_EQ(dead_letter_counters().left_out - before, 3U);
  EXPECT_EQ(value("SELECT string_agg(did || ' ' || n, ', ' ORDER BY did) FROM "
                  "(SELECT did, count(*) AS n FROM skua.dead_letter GROUP BY did) AS t"),
            "did:plc:a 3, did:plc:b 1");

  // A letter that is there already still counts its attempts.
  DeadLetter again = letter_of("did:plc:a", 0);
  again.error = "still bad";
  EXPECT_EQ(write_dead_letters(session(), {again}, at(3), limits), 1U);
  EXPECT_EQ(dead_letter_counters().left_out - before, 3U);
}

TEST_F(DeadLettersTest, the_table_has_a_bounded_size) {
  DeadLetterLimits limits;
  limits.table_bytes = 200'000;
  const std::uint64_t before = dead_letter_counters().left_out;
  std::size_t written = 0;
  for (int i = 0; i < 40; ++i) {
    DeadLetter letter = letter_of("did:plc:x" + std::to_string(i), i);
    // Bytes that do not compress.
    std::uint32_t state = static_cast<std::uint32_t>(i) + 1;
    for (int k = 0; k < 20'000; ++k) {
      state = state * 1664525 + 1013904223;
      letter.payload.push_back(static_cast<std::uint8_t>(state >> 24U));
    }
    written += write_dead_letters(session(), {letter}, at(i), limits);
  }
  EXPECT_GT(written, 1U);
  EXPECT_LT(written, 15U);
  EXPECT_EQ(dead_letter_counters().left_out - before, 40 - written);
}

DeadLetter letter_with_bytes(const std::string& did, int number, std::size_t size) {
  DeadLetter letter = letter_of(did, number);
  std::uint32_t state = static_cast<std::uint32_t>(number) + 1;
  // Bytes that do not compress.
  while (letter.payload.size() < size) {
    state = state * 1664525 + 1013904223;
    letter.payload.push_back(static_cast<std::uint8_t>(state >> 24U));
  }
  return letter;
}

TEST_F(DeadLettersTest, an_account_has_a_bounded_size) {
  DeadLetterLimits limits;
  limits.account_bytes = 10'000;
  const auto write = [&](const std::string& did, int number, std::size_t size) {
    return write_dead_letters(session(), {letter_with_bytes(did, number, size)}, at(number),
                              limits);
  };
  EXPECT_EQ(write("did:plc:a", 1, 6'000), 1U);
  EXPECT_EQ(write("did:plc:a", 2, 6'000), 0U);
  EXPECT_EQ(write("did:plc:a", 3, 4'000), 1U);
  EXPECT_EQ(write("did:plc:a", 4, 1), 0U);
  EXPECT_EQ(write("did:plc:b", 5, 10'000), 1U);
  // In one batch, too.
  EXPECT_EQ(write_dead_letters(session(),
                               {letter_with_bytes("did:plc:c", 1, 6'000),
                                letter_with_bytes("did:plc:c", 2, 6'000)},
                               at(6), limits),
            1U);
}

TEST_F(DeadLettersTest, large_accounts_leave_room_for_the_letters_of_others) {
  DeadLetterLimits limits;
  limits.table_bytes = 4'000'000;
  limits.account_bytes = 640'000;
  std::size_t written = 0;
  for (int i = 0; i < 40; ++i) {
    written += write_dead_letters(
        session(), {letter_with_bytes("did:plc:x" + std::to_string(i), i, 600'000)}, at(i), limits);
  }
  EXPECT_GE(written, 4U);
  EXPECT_LE(written, 6U);
  EXPECT_EQ(write_dead_letters(session(), {letter_with_bytes("did:plc:honest", 1, 9'000)}, at(50),
                               limits),
            1U);
  EXPECT_EQ(write_dead_letters(session(), {letter_with_bytes("did:plc:honest", 2, 9'000)}, at(50),
                               limits),
            0U);
}

TEST_F(DeadLettersTest, a_payload_is_cut_and_the_error_says_so) {
  DeadLetter letter = letter_of("did:plc:a", 0);
  letter.payload.assign(100, 7);
  write_dead_letters(session(), {letter}, at(1), {.payload_bytes = 10});
  EXPECT_EQ(value("SELECT concat_ws('|', length(payload), error) FROM skua.dead_letter"),
            "10|bad (the payload had 100 bytes; the first 10 are kept)");
}

}  // namespace
}  // namespace skua::tables::dead_letters_test
