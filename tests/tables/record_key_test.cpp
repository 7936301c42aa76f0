#include "tables/record_key.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "support/postgres.hpp"

namespace skua::tables::record_key_test {
namespace {

TEST(RecordKeyTest, a_tid_is_its_number) {
  EXPECT_EQ(rkey_number("2222222222222").value, 0);
  EXPECT_EQ(rkey_number("2222222222223").value, 1);
  EXPECT_FALSE(rkey_number("3l2s5xxv2ze2c").needs_text);
  EXPECT_GT(rkey_number("3l2s5xxv2ze2c").value, 0);
}

TEST(RecordKeyTest, the_last_tid_below_bit_63_is_a_number_and_the_next_is_text) {
  EXPECT_EQ(rkey_number("bzzzzzzzzzzzz").value, INT64_MAX);
  EXPECT_FALSE(rkey_number("bzzzzzzzzzzzz").needs_text);
  EXPECT_LT(rkey_number("c222222222222").value, 0);
  EXPECT_TRUE(rkey_number("c222222222222").needs_text);
}

TEST(RecordKeyTest, self_is_known_without_its_text) {
  EXPECT_EQ(rkey_number(kSelf).value, -244041388656280411);
  EXPECT_FALSE(rkey_number(kSelf).needs_text);
}

TEST(RecordKeyTest, any_other_text_is_negative) {
  for (const char* rkey : {"a", "whats-hot", "3l2s5xxv2ze2", "3L2S5XXV2ZE2C", "3l2s5xxv2ze21",
                           "3l2s5xxv2ze2cc", "example.com", "~1.2-3_", "Self", ""}) {
    EXPECT_LT(rkey_number(rkey).value, 0) << rkey;
    EXPECT_TRUE(rkey_number(rkey).needs_text) << rkey;
  }
  EXPECT_TRUE(rkey_number(std::string(512, 'x')).needs_text);
}

class KeyFunctionsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(KeyFunctionsTest, sql_and_cpp_agree_on_numbers) {
  std::mt19937_64 random(20260102);
  constexpr std::string_view kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_~.:-";
  std::vector<std::string> rkeys = {
      "self",          "2222222222222", "bzzzzzzzzzzzz",      "c222222222222",
      "jzzzzzzzzzzzz", "kzzzzzzzzzzzz", std::string(512, 'q')};
  for (int i = 0; i < 300; ++i) rkeys.push_back(atproto::Tid{random()}.to_string());
  for (int i = 0; i < 300; ++i) {
    std::string rkey;
    for (std::size_t left = 1 + random() % 20; left > 0; --left) {
      rkey += kAlphabet[random() % kAlphabet.size()];
    }
    rkeys.push_back(rkey);
  }
  postgres::Array array(postgres::Array::Type::text);
  for (const std::string& rkey : rkeys) array.text(rkey);
  postgres::Params params;
  params.array(array);
  const postgres::Rows rows = session().execute(
      {"numbers", "SELECT bsky.rkey_number(k) FROM unnest($1::text[]) AS k"}, params);
  ASSERT_EQ(rows.size(), rkeys.size());
  for (std::size_t i = 0; i < rkeys.size(); ++i) {
    EXPECT_EQ(rows.int8(i, 0), rkey_number(rkeys[i]).value) << rkeys[i];
  }
}

TEST_F(KeyFunctionsTest, sql_and_cpp_agree_on_tids) {
  std::mt19937_64 random(7);
  postgres::Array array(postgres::Array::Type::int8);
  std::vector<std::uint64_t> values = {0, 1, 31, 32, INT64_MAX};
  for (int i = 0; i < 300; ++i) values.push_back(random() >> 1);
  for (const std::uint64_t value : values) array.int8(static_cast<std::int64_t>(value));
  postgres::Params params;
  params.array(array);
  const postgres::Rows rows =
      session().execute({"tids",
                         "SELECT bsky.tid_text(n), bsky.tid_number(bsky.tid_text(n)) = n FROM "
                         "unnest($1::int8[]) AS n"},
                        params);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(rows.text(i, 0), atproto::Tid{values[i]}.to_string());
    EXPECT_TRUE(rows.boolean(i, 1));
  }
}

TEST_F(KeyFunctionsTest, sql_and_cpp_agree_on_cids) {
  std::mt19937_64 random(11);
  postgres::Array array(postgres::Array::Type::bytea);
  std::vector<atproto::Cid> cids(300);
  cids[1].digest.fill(0xFF);
  for (std::size_t i = 2; i < cids.size(); ++i) {
    for (auto& byte : cids[i].digest) byte = static_cast<std::uint8_t>(random());
  }
  for (const atproto::Cid& cid : cids) array.bytea(cid.digest);
  postgres::Params params;
  params.array(array);
  const postgres::Rows rows =
      session().execute({"cids", "SELECT bsky.cid_text(d) FROM unnest($1::bytea[]) AS d"}, params);
  for (std::size_t i = 0; i < cids.size(); ++i) EXPECT_EQ(rows.text(i, 0), cids[i].to_string());
  EXPECT_EQ(value("SELECT bsky.cid_text(NULL)"), "");
}

TEST_F(KeyFunctionsTest, uris_go_there_and_back) {
  session().run(
      "INSERT INTO bsky.actors (did, handle, indexed_at) VALUES ('did:plc:a', 'a.test', now()), "
      "('did:web:b.test', 'b.test', now()); "
      "INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text) VALUES "
      "(2, 6, bsky.rkey_number('whats-hot'), 'whats-hot')");
  for (const char* uri : {"at://did:plc:a/app.bsky.feed.post/3l2s5xxv2ze2c",
                          "at://did:plc:a/app.bsky.actor.profile/self",
                          "at://did:web:b.test/app.bsky.feed.generator/whats-hot"}) {
    EXPECT_EQ(value("SELECT bsky.uri(actor_id, collection_id, rkey) FROM bsky.resolve_uri('" +
                    std::string(uri) + "')"),
              uri);
  }
  EXPECT_EQ(value("SELECT bsky.uri(actor_id, collection_id, rkey) FROM "
                  "bsky.resolve_uri('at://A.test/app.bsky.feed.post/3l2s5xxv2ze2c')"),
            "at://did:plc:a/app.bsky.feed.post/3l2s5xxv2ze2c");
  for (const char* uri : {"at://did:plc:nobody/app.bsky.feed.post/3l2s5xxv2ze2c",
                          "at://did:plc:a/com.example.nothing/3l2s5xxv2ze2c",
                          "https://did:plc:a/app.bsky.feed.post/3l2s5xxv2ze2c", "", "at://"}) {
    EXPECT_EQ(value("SELECT count(*) FROM bsky.resolve_uri('" + std::string(uri) + "')"), "0")
        << uri;
  }
  EXPECT_EQ(value("SELECT bsky.actor_id('@b.test')"), "2");
  // An unknown text key has no text, and so no URI.
  EXPECT_EQ(value("SELECT bsky.uri(1, 6, -5)"), "");
}

TEST_F(KeyFunctionsTest, resolve_uri_goes_through_the_primary_keys) {
  session().run("SET enable_seqscan = off");
  const postgres::Rows plan = session().run(
      "EXPLAIN SELECT * FROM bsky.post('at://did:plc:a/app.bsky.feed.post/3l2s5xxv2ze2c')");
  std::string text;
  for (std::size_t i = 0; i < plan.size(); ++i) text += std::string(plan.text(i, 0)) + "\n";
  EXPECT_NE(text.find("Index Scan using posts_pkey"), std::string::npos) << text;
  EXPECT_EQ(text.find("Seq Scan"), std::string::npos) << text;
}

TEST_F(KeyFunctionsTest, counting_all_records_computes_no_texts) {
  const postgres::Rows plan =
      session().run("EXPLAIN VERBOSE SELECT count(*) FROM bsky.all_records");
  std::string text;
  for (std::size_t i = 0; i < plan.size(); ++i) text += std::string(plan.text(i, 0)) + "\n";
  EXPECT_EQ(text.find("cid_text"), std::string::npos) << text;
  EXPECT_EQ(text.find("tid_text"), std::string::npos) << text;
  EXPECT_EQ(text.find("Join"), std::string::npos) << text;
}

}  // namespace
}  // namespace skua::tables::record_key_test
