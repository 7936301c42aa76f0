#include <string>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "atproto/syntax.hpp"

namespace skua::atproto::account_name_test {
namespace {

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

struct Named {
  std::string text;
  std::string account;
};

void PrintTo(const Named& named, std::ostream* out) {
  *out << named.text;
}

class AccountName : public testing::TestWithParam<Named> {};

TEST_P(AccountName, is_read) {
  const auto account = parse_account_name(GetParam().text);
  ASSERT_TRUE(account.has_value());
  EXPECT_EQ(*account, GetParam().account);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, AccountName,
    testing::Values(Named{kDid, kDid}, Named{"did:web:pds.test", "did:web:pds.test"},
                    Named{"did:web:localhost%3A2583", "did:web:localhost%3A2583"},
                    Named{"alice.test", "alice.test"}, Named{"Alice.Test", "alice.test"},
                    Named{"@alice.test", "alice.test"}, Named{"@" + kDid, kDid},
                    Named{"at://" + kDid, kDid}, Named{"at://Alice.test", "alice.test"},
                    Named{"at://" + kDid + "/app.bsky.feed.post", kDid},
                    Named{"at://alice.test/app.bsky.feed.post/3jzfcijpj2z2a", "alice.test"},
                    Named{"https://bsky.app/profile/alice.test", "alice.test"},
                    Named{"https://bsky.app/profile/" + kDid, kDid},
                    Named{"https://bsky.app/profile/alice.test/", "alice.test"},
                    Named{"https://bsky.app/profile/alice.test?ref=x", "alice.test"},
                    Named{"https://bsky.app/profile/alice.test#top", "alice.test"},
                    Named{"https://bsky.app/profile/alice.test/followers", "alice.test"},
                    Named{"https://bsky.app/profile/alice.test/post/3jzfcijpj2z2a", "alice.test"},
                    Named{"https://bsky.app/profile/" + kDid + "/feed/whats-hot", kDid},
                    Named{"https://bsky.app/profile/alice.test/lists/3jzfcijpj2z2a", "alice.test"},
                    Named{"https://bsky.app/starter-pack/alice.test/3jzfcijpj2z2a", "alice.test"},
                    Named{"HTTPS://BSKY.APP/profile/Alice.Test", "alice.test"},
                    Named{"http://bsky.app/profile/alice.test", "alice.test"},
                    Named{"bsky.app/profile/alice.test", "alice.test"},
                    Named{"bsky.app", "bsky.app"}));

class NoAccountName : public testing::TestWithParam<std::string> {};

TEST_P(NoAccountName, is_refused) {
  EXPECT_EQ(parse_account_name(GetParam()).error(), errc::bad_account_name);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, NoAccountName,
    testing::Values("", " ", "@", "alice", "alice test", "@@alice.test", "did:plc:", "did:plc",
                    "at://", "at://alice", "at://@alice.test", "at://alice.test/posts",
                    "at://alice.test/app.bsky.feed.post/a b", "https://bsky.app",
                    "https://bsky.app/", "https://bsky.app/profile", "https://bsky.app/profile/",
                    "https://bsky.app/profile/alice", "https://bsky.app/profile//post/x",
                    "https://bsky.app/feeds", "https://bsky.app.test/profile/alice.test",
                    "https://user@bsky.app/profile/alice.test",
                    "https://example.com/profile/alice.test", "https://alice.test",
                    "ftp://bsky.app/profile/alice.test"));

struct Malformed {
  std::string text;
  errc error;
};

void PrintTo(const Malformed& malformed, std::ostream* out) {
  *out << malformed.text;
}

class DidOfNoAccount : public testing::TestWithParam<Malformed> {};

TEST_P(DidOfNoAccount, is_refused_for_its_reason) {
  const auto& [did, error] = GetParam();
  for (const std::string& text :
       {did, "@" + did, "at://" + did, "at://" + did + "/app.bsky.feed.post/3jzfcijpj2z2a",
        "https://bsky.app/profile/" + did}) {
    EXPECT_EQ(parse_account_name(text).error(), error) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, DidOfNoAccount,
    testing::Values(Malformed{"did:plc:xxxx", errc::bad_plc_did},
                    Malformed{kDid.substr(0, kDid.size() - 1), errc::bad_plc_did},
                    Malformed{kDid + "a", errc::bad_plc_did},
                    Malformed{"did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ", errc::bad_plc_did},
                    Malformed{"did:plc:ewvi7nxzyoun6zhxrhs64oi1", errc::bad_plc_did},
                    Malformed{"did:web:pds", errc::bad_web_did},
                    Malformed{"did:web:pds.test%3A2583", errc::bad_web_did},
                    Malformed{"did:web:pds.test:alice", errc::bad_web_did},
                    Malformed{"did:key:zQ3shXjHeiBuRCKmM36cuYnm", errc::bad_did_method}));

}  // namespace
}  // namespace skua::atproto::account_name_test
