#include "atproto/syntax.hpp"

#include <string>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto::syntax_test {
namespace {

using test::LineVector;

/// What stands for an account in an AT-URI: a DID or a handle.
bool is_at_identifier(const std::string& text) {
  const std::string uri = "at://" + text;
  const auto parsed = parse_at_uri(uri);
  return parsed && parsed->authority == text;
}
bool is_at_uri(std::string_view text) {
  return parse_at_uri(text).has_value();
}

/// One suite an identifier: each valid text is taken, each invalid one refused.
#define SYNTAX_SUITE(Suite, check, file)                                                   \
  class Valid##Suite : public testing::TestWithParam<LineVector> {};                       \
  TEST_P(Valid##Suite, IsTaken) {                                                          \
    if (!GetParam().available) SKUA_NEED_SHARED();                                         \
    EXPECT_TRUE(check(GetParam().text));                                                   \
  }                                                                                        \
  class Invalid##Suite : public testing::TestWithParam<LineVector> {};                     \
  TEST_P(Invalid##Suite, IsRefused) {                                                      \
    if (!GetParam().available) SKUA_NEED_SHARED();                                         \
    EXPECT_FALSE(check(GetParam().text));                                                  \
  }                                                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                \
      Interop, Valid##Suite,                                                               \
      testing::ValuesIn(test::shared_lines("interop/syntax/" file "_syntax_valid.txt")),   \
      test::NameOfLine());                                                                 \
  INSTANTIATE_TEST_SUITE_P(                                                                \
      Interop, Invalid##Suite,                                                             \
      testing::ValuesIn(test::shared_lines("interop/syntax/" file "_syntax_invalid.txt")), \
      test::NameOfLine())

SYNTAX_SUITE(Did, is_did, "did");
SYNTAX_SUITE(Handle, is_handle, "handle");
SYNTAX_SUITE(Nsid, is_nsid, "nsid");
SYNTAX_SUITE(RecordKey, is_record_key, "recordkey");
SYNTAX_SUITE(AtIdentifier, is_at_identifier, "atidentifier");
SYNTAX_SUITE(AtUri, is_at_uri, "aturi");

TEST(Did, own_cases) {
  EXPECT_TRUE(is_did("did:plc:ewvi7nxzyoun6zhxrhs64oiz"));
  EXPECT_TRUE(is_did("did:web:example.com%3A8080"));
  for (const char* bad : {"", "did:", "did:plc", "did:plc:", "did:PLC:abc", "did:plc:abc:",
                          "did:plc:abc%", "did:plc:a b", "did:plc:a/b", "did::abc"}) {
    EXPECT_FALSE(is_did(bad)) << bad;
  }
  EXPECT_TRUE(is_did("did:a:" + std::string(2042, 'x')));
  EXPECT_FALSE(is_did("did:a:" + std::string(2043, 'x')));
}

TEST(Handle, own_cases) {
  EXPECT_TRUE(is_handle("alice.example.com"));
  EXPECT_TRUE(is_handle("4chan.org"));
  EXPECT_TRUE(is_handle(std::string(63, 'a') + ".com"));
  for (const char* bad : {"", "alice", "alice.", ".alice", "alice..com", "-a.com", "a-.com",
                          "alice.4com", "al_ice.com", "alice.com "}) {
    EXPECT_FALSE(is_handle(bad)) << bad;
  }
  EXPECT_FALSE(is_handle(std::string(64, 'a') + ".com"));
}

TEST(Nsid, own_cases) {
  EXPECT_TRUE(is_nsid("app.bsky.feed.post"));
  EXPECT_TRUE(is_nsid("a.b.c"));
  EXPECT_TRUE(is_nsid("com.4chan.lexThing2"));
  for (const char* bad : {"", "app", "app.bsky", "app.bsky.", "4pp.bsky.post", "app.bsky.4post",
                          "app.bsky.po-st", "app..post", "app.-b.post", "app.b-.post"}) {
    EXPECT_FALSE(is_nsid(bad)) << bad;
  }
  EXPECT_TRUE(is_nsid("a.b." + std::string(63, 'c')));
  EXPECT_FALSE(is_nsid("a.b." + std::string(64, 'c')));
}

TEST(RecordKey, own_cases) {
  EXPECT_TRUE(is_record_key("self"));
  EXPECT_TRUE(is_record_key("3k2yihcrnxd2x"));
  EXPECT_TRUE(is_record_key("..."));
  EXPECT_TRUE(is_record_key("A-z_0~.:"));
  EXPECT_TRUE(is_record_key(std::string(512, 'k')));
  for (const char* bad : {"", ".", "..", "a/b", "a b", "a%20", "caf\xc3\xa9"}) {
    EXPECT_FALSE(is_record_key(bad)) << bad;
  }
  EXPECT_FALSE(is_record_key(std::string(513, 'k')));
}

TEST(ParseAtUri, takes_it_apart) {
  const auto whole = parse_at_uri("at://did:plc:abc/app.bsky.feed.post/3k2yihcrnxd2x");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->authority, "did:plc:abc");
  EXPECT_EQ(whole->collection, "app.bsky.feed.post");
  EXPECT_EQ(whole->rkey, "3k2yihcrnxd2x");

  const auto collection = parse_at_uri("at://alice.example.com/app.bsky.feed.post");
  ASSERT_TRUE(collection);
  EXPECT_EQ(collection->authority, "alice.example.com");
  EXPECT_TRUE(collection->rkey.empty());

  const auto repo = parse_at_uri("at://did:plc:abc");
  ASSERT_TRUE(repo);
  EXPECT_TRUE(repo->collection.empty());
}

TEST(ParseAtUri, says_which_part_is_wrong) {
  EXPECT_EQ(parse_at_uri("http://did:plc:abc").error(), errc::bad_at_uri);
  EXPECT_EQ(parse_at_uri("").error(), errc::bad_at_uri);
  EXPECT_EQ(parse_at_uri("at://did:plc:").error(), errc::bad_did);
  EXPECT_EQ(parse_at_uri("at://alice").error(), errc::bad_handle);
  EXPECT_EQ(parse_at_uri("at://did:plc:abc/").error(), errc::bad_nsid);
  EXPECT_EQ(parse_at_uri("at://did:plc:abc/a.b").error(), errc::bad_nsid);
  EXPECT_EQ(parse_at_uri("at://did:plc:abc/a.b.c/").error(), errc::bad_record_key);
  EXPECT_EQ(parse_at_uri("at://did:plc:abc/a.b.c/x/y").error(), errc::bad_record_key);
  EXPECT_EQ(parse_at_uri("at://did:plc:abc/a.b.c/x#y").error(), errc::bad_record_key);
}

TEST(ParseRepoPath, wants_exactly_collection_and_key) {
  const auto path = parse_repo_path("app.bsky.feed.post/3k2yihcrnxd2x");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->collection, "app.bsky.feed.post");
  EXPECT_EQ(path->rkey, "3k2yihcrnxd2x");

  EXPECT_EQ(parse_repo_path("app.bsky.feed.post").error(), errc::bad_repo_path);
  EXPECT_EQ(parse_repo_path("").error(), errc::bad_repo_path);
  EXPECT_EQ(parse_repo_path("post/x").error(), errc::bad_nsid);
  EXPECT_EQ(parse_repo_path("a.b.c/").error(), errc::bad_record_key);
  EXPECT_EQ(parse_repo_path("a.b.c/x/y").error(), errc::bad_record_key);
  EXPECT_EQ(parse_repo_path("/a.b.c/x").error(), errc::bad_nsid);
}

}  // namespace
}  // namespace skua::atproto::syntax_test
