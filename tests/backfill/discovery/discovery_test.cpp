#include "backfill/discovery/discovery.hpp"

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backfill/errc.hpp"

namespace skua::backfill::discovery_test {
namespace {

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kOther = "did:web:other.test";

std::string repos(const std::string& entries) {
  return R"({"cursor":"next","repos":[)" + entries + "]}";
}

TEST(ListUrls, escape_their_arguments) {
  EXPECT_EQ(list_repos_url("https://pds.example", ""),
            "https://pds.example/xrpc/com.atproto.sync.listRepos?limit=1000");
  EXPECT_EQ(list_repos_url("https://pds.example", "a b&c=%\u00e9::1#?/+"),
            "https://pds.example/xrpc/com.atproto.sync.listRepos?limit=1000"
            "&cursor=a%20b%26c%3D%25%C3%A9::1%23%3F%2F%2B");
  EXPECT_EQ(list_repos_by_collection_url("https://relay.example", "app.bsky.feed.like", "7"),
            "https://relay.example/xrpc/com.atproto.sync.listReposByCollection"
            "?collection=app.bsky.feed.like&limit=2000&cursor=7");
  EXPECT_EQ(list_hosts_url("https://relay.example", ""),
            "https://relay.example/xrpc/com.atproto.sync.listHosts?limit=1000");
}

TEST(RepoPage, holds_the_active_ones) {
  const auto page = read_repo_page(
      repos(R"({"did":")" + kDid + R"(","head":"x","rev":"3n2ujseh76l22","active":true},)" +
            R"({"did":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","active":false,"status":"takendown"},)" +
            R"({"did":")" + kOther + R"("})"));
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->cursor, "next");
  ASSERT_EQ(page->repos.size(), 2U);
  EXPECT_EQ(page->repos[0].did, kDid);
  EXPECT_EQ(page->repos[0].rev, atproto::Tid::parse("3n2ujseh76l22").value());
  EXPECT_EQ(page->repos[1].did, kOther);
  EXPECT_EQ(page->repos[1].rev, std::nullopt);
  EXPECT_EQ(page->inactive, 1U);
  EXPECT_EQ(page->refused, 0U);
  EXPECT_EQ(page->entries(), 3U);
}

struct Entry {
  const char* name;
  std::string json;
};

void PrintTo(const Entry& entry, std::ostream* out) {
  *out << entry.name;
}

class BadRepoEntry : public ::testing::TestWithParam<Entry> {};

TEST_P(BadRepoEntry, is_counted_and_harms_no_other) {
  const auto page =
      read_repo_page(repos(GetParam().json + R"(,{"did":")" + kDid + R"(","active":true})"));
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->repos.size(), 1U);
  EXPECT_EQ(page->repos[0].did, kDid);
  EXPECT_EQ(page->refused, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadRepoEntry,
    ::testing::Values(Entry{"null", "null"}, Entry{"number", "7"}, Entry{"text", R"("did:plc:x")"},
                      Entry{"list", R"([{"did":"did:plc:x"}])"}, Entry{"empty", "{}"},
                      Entry{"number_for_did", R"({"did":7})"},
                      Entry{"object_for_did", R"({"did":{"did":"did:plc:x"}})"},
                      Entry{"handle", R"({"did":"someone.test"})"},
                      Entry{"nul", R"({"did":"did:plc:\u0000"})"},
                      Entry{"query", R"({"did":"did:plc:x&since=1"})"},
                      Entry{"long", R"({"did":"did:plc:)" + std::string(3000, 'a') + R"("})"},
                      Entry{"inactive_and_no_did", R"({"did":"x","active":false})"}),
    [](const auto& test) { return test.param.name; });

TEST(RepoPage, takes_wrong_types_of_the_rest_for_absent) {
  const auto page = read_repo_page(R"({"cursor":null,"repos":[{"did":")" + kDid +
                                   R"(","rev":7,"active":"no","status":[],"x":[[[[[1]]]]]}]})");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->cursor, "");
  ASSERT_EQ(page->repos.size(), 1U);
  EXPECT_EQ(page->repos[0].rev, std::nullopt);
}

TEST(RepoPage, takes_nothing_from_other_places) {
  const auto page = read_repo_page(
      R"({"did":"did:web:a.test","x":[{"did":"did:web:b.test"}],"y":{"repos":[{"did":"did:web:c.test"}],
          "cursor":"wrong"},"repos":[[{"did":"did:web:d.test"}],{"x":{"did":"did:web:e.test"}},
          {"x":{"active":false},"did":")" +
      kDid + R"(","y":[{"did":"did:web:f.test","cursor":"wrong","rev":"x"}]}],
          "z":[{"did":"did:web:g.test"}],"cursor":"next"})");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->cursor, "next");
  ASSERT_EQ(page->repos.size(), 1U);
  EXPECT_EQ(page->repos[0].did, kDid);
  EXPECT_EQ(page->refused, 2U);
}

TEST(RepoPage, ends_at_once_when_it_is_endless) {
  std::string entries = "{}";
  for (int i = 0; i < 2'000'000; ++i) entries += ",{}";
  EXPECT_EQ(read_repo_page(repos(entries)).error(), errc::list_too_long);
  entries = "0";
  for (int i = 0; i < 2'000'000; ++i) entries += ",{}";
  const auto page = read_repo_page(R"({"x":[)" + entries + R"(],"repos":[]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries(), 0U);
}

TEST(RepoPage, an_empty_list_may_go_on) {
  const auto page = read_repo_page(R"({"cursor":"7","repos":[]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->cursor, "7");
  EXPECT_EQ(page->entries(), 0U);
}

class LastPage : public ::testing::TestWithParam<Entry> {};

TEST_P(LastPage, ends_a_list_that_is_absent) {
  const auto page = read_repo_page(GetParam().json);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->cursor, "");
  EXPECT_EQ(page->entries(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, LastPage,
    ::testing::Values(Entry{"nothing", "{}"}, Entry{"no_repos", R"({"cursor":"7"})"},
                      Entry{"null", R"({"cursor":"7","repos":null})"},
                      Entry{"null_before_cursor", R"({"repos":null,"cursor":"7"})"},
                      Entry{"repos_further_down", R"({"x":{"repos":[{"did":"did:plc:x"}]}})"}),
    [](const auto& test) { return test.param.name; });

TEST(RepoPage, a_service_that_is_behind_does_not_hide_its_accounts) {
  const auto page =
      read_repo_page(R"({"repos":[{"did":"did:plc:a","active":false,"status":"desynchronized"},)"
                     R"({"did":"did:plc:b","active":false,"status":"throttled"},)"
                     R"({"did":"did:plc:c","active":false,"status":"takendown"},)"
                     R"({"did":"did:plc:d","active":false}]})");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->repos.size(), 2U);
  EXPECT_EQ(page->repos[1].did, "did:plc:b");
  EXPECT_EQ(page->inactive, 2U);
}

class BadPage : public ::testing::TestWithParam<Entry> {};

TEST_P(BadPage, is_refused) {
  const auto page = read_repo_page(GetParam().json);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error(), errc::list_form);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPage,
    ::testing::Values(Entry{"nothing", ""}, Entry{"html", "<html></html>"}, Entry{"null", "null"},
                      Entry{"list", "[]"}, Entry{"repos_object", R"({"repos":{}})"},
                      Entry{"error", R"({"error":"InternalServerError","repos":[]})"},
                      Entry{"cut_off", R"({"repos":[{"did":")"},
                      Entry{"no_utf8", "{\"repos\":[],\"cursor\":\"\xff\"}"},
                      Entry{"number_for_cursor", R"({"repos":[],"cursor":7})"},
                      Entry{"nul_in_cursor", R"({"repos":[],"cursor":"a\u0000b"})"},
                      Entry{"long_cursor",
                            R"({"repos":[],"cursor":")" + std::string(5000, 'a') + R"("})"},
                      Entry{"brackets", std::string(1'000'000, '[')},
                      Entry{"cursor_in_a_list", R"({"repos":[],"cursor":["7"]})"},
                      Entry{"text_for_repos", R"({"repos":"did:plc:x"})"},
                      Entry{"more_behind", R"({"repos":[]}{"repos":[]})"},
                      Entry{"objects",
                            [] {
                              std::string text;
                              for (int i = 0; i < 100'000; ++i) text += R"({"repos":)";
                              return text;
                            }()}),
    [](const auto& test) { return test.param.name; });

TEST(RepoPage, reads_past_what_lies_deep) {
  const auto page =
      read_repo_page(R"({"repos":[{"did":")" + kDid + R"(","x":)" + std::string(1'000'000, '[') +
                     std::string(1'000'000, ']') + "}]}");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->repos.size(), 1U);
}

TEST(RepoPage, takes_more_than_was_asked_for_but_not_endlessly) {
  const auto many = [](int count) {
    std::string entries = "{}";
    for (int i = 1; i < count; ++i) entries += ",{}";
    return repos(entries);
  };
  EXPECT_EQ(read_repo_page(many(20'000)).value().refused, 20'000U);
  EXPECT_EQ(read_repo_page(many(20'001)).error(), errc::list_too_long);
}

TEST(HostPage, holds_origins) {
  const auto page = read_host_page(
      R"({"hosts":[{"hostname":"PDS.example","seq":1,"accountCount":17,"status":"idle"},
                   {"hostname":"two.example","accountCount":-1,"status":"<b>"},
                   {"hostname":"three.example","accountCount":18446744073709551615},
                   {"hostname":"https://four.example"},{"hostname":7},null]})",
      false);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->cursor, "");
  ASSERT_EQ(page->hosts.size(), 3U);
  EXPECT_EQ(page->hosts[0].origin, "https://pds.example");
  EXPECT_EQ(page->hosts[0].accounts, 17);
  EXPECT_EQ(page->hosts[0].status, "idle");
  EXPECT_EQ(page->hosts[1].accounts, std::nullopt);
  EXPECT_EQ(page->hosts[1].status, "");
  EXPECT_EQ(page->hosts[2].accounts, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(page->refused, 3U);
  EXPECT_EQ(page->entries(), 6U);
}

struct Name {
  std::string name;
  /// Empty: refused.
  std::string origin;
  std::string with_private_hosts;
};

void PrintTo(const Name& name, std::ostream* out) {
  *out << name.name;
}

class HostName : public ::testing::TestWithParam<Name> {};

TEST_P(HostName, is_a_plain_one) {
  const auto read = [](bool allow_private_hosts) {
    const auto origin = listed_host_origin(GetParam().name, allow_private_hosts);
    return origin ? *origin : std::string();
  };
  EXPECT_EQ(read(false), GetParam().origin);
  EXPECT_EQ(read(true), GetParam().with_private_hosts);
}

Name refused(const std::string& name) {
  return {name, "", ""};
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostName,
    ::testing::Values(
        Name{"pds.example", "https://pds.example", "https://pds.example"},
        Name{"A-1.PDS.Example", "https://a-1.pds.example", "https://a-1.pds.example"},
        Name{"localhost", "", "http://localhost"},
        Name{"localhost:2583", "", "http://localhost:2583"},
        Name{"LOCALHOST:2583", "", "http://localhost:2583"},
        Name{"127.0.0.1:2583", "", "http://127.0.0.1:2583"},
        Name{"[::1]:2583", "", "http://[::1]:2583"}, refused(""), refused("."), refused("pds"),
        refused("pds.example."), refused("pds.example:443"), refused("pds.example:8443"),
        refused("https://pds.example"), refused("http://localhost:1"), refused("pds.example/"),
        refused("pds.example/x"), refused("localhost/x"), refused("localhost/"),
        refused("localhost?x"), refused("localhost?"), refused("localhost#x"),
        refused("user@pds.example"), refused("user@localhost"), refused("pds.example?x"),
        refused("pds.example#x"), refused("10.0.0.1"), refused("10.0.0.1:80"),
        refused("169.254.169.254"), refused("[fd00::1]:80"), refused("localhost:0"),
        refused("localhost:99999"), refused("localhost:80:80"), refused(" pds.example"),
        refused("localhost:2583 "), refused("pds_1.example"), refused("\u0440ds.example"),
        refused("pds.example\n"), refused(std::string(250, 'a') + ".example"),
        refused("2130706433"), refused("0x7f.1")));

}  // namespace
}  // namespace skua::backfill::discovery_test
