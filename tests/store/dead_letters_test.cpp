#include "store/dead_letters.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::store::dead_letters_test {
namespace {

using namespace std::string_literals;

class DeadLettersTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  Timestamp at(int seconds) const { return Timestamp(std::chrono::seconds(seconds)); }
  const DeadLetter letter_{"indexer", "relay:a.test 5 x/y", {0, 1, 2}, "not DAG-CBOR", ""};
};

TEST_F(DeadLettersTest, a_letter_is_kept_with_its_bytes) {
  EXPECT_EQ(write_dead_letters(session(), {letter_}, at(1)), 1U);
  EXPECT_EQ(
      value("SELECT concat_ws('|', consumer, key, payload, error, sqlstate IS NULL, attempts, "
            "status, created_at, last_at) FROM skua.dead_letter"),
      "indexer|relay:a.test 5 x/y|\\x000102|not DAG-CBOR|t|1|dead|1970-01-01 00:00:01+00|"
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

TEST_F(DeadLettersTest, texts_that_postgres_cannot_hold_are_made_readable) {
  DeadLetter letter = letter_;
  letter.payload.clear();
  letter.key = "nul \0 and \xFF and \xE2\x82 and \u20AC\xC3"s;
  letter.error = "\xF0\x9F\x98\x80 \x80"s;
  write_dead_letters(session(), {letter}, at(1));
  EXPECT_EQ(value("SELECT key FROM skua.dead_letter"),
            "nul  and \uFFFD and \uFFFD\uFFFD and \u20AC\uFFFD");
  EXPECT_EQ(value("SELECT error FROM skua.dead_letter"), "\U0001F600 \uFFFD");
  EXPECT_EQ(value("SELECT payload IS NULL FROM skua.dead_letter"), "t");
}

}  // namespace
}  // namespace skua::store::dead_letters_test
