#include "atproto/account_group.hpp"

#include <array>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"

namespace skua::atproto::account_group_test {
namespace {

TEST(AccountGroup, is_the_first_bits_of_the_hash) {
  // SHA-256 of "abc" begins with ba, and of the empty text with e3.
  EXPECT_EQ(account_group("abc"), 0xba >> 2);
  EXPECT_EQ(account_group(""), 0xe3 >> 2);
}

TEST(AccountGroup, every_group_has_accounts) {
  std::set<AccountGroup> found;
  for (int i = 0; i < 2'000; ++i) found.insert(account_group("did:plc:" + std::to_string(i)));
  EXPECT_EQ(found.size(), kAccountGroups);
  EXPECT_LT(*found.rbegin(), kAccountGroups);
}

TEST(AccountNumber, carries_its_group) {
  for (const AccountGroup group : std::vector<AccountGroup>{0, 1, 31, 63}) {
    const AccountNumber number = number_in_group(group, kDrawnMask);
    EXPECT_EQ(number >> kDrawnBits, group);
    EXPECT_EQ(drawn_of(number), kDrawnMask);
    EXPECT_LT(number, AccountNumber{1} << 52);
  }
}

struct Text {
  const char* given;
  const char* shortest;
};

TEST(GroupSet, is_read_in_any_order) {
  for (const auto& [given, shortest] :
       {Text{"0-63", "0-63"}, Text{"7", "7"}, Text{"40,0-31", "0-31,40"}, Text{"0,1,2,4", "0-2,4"},
        Text{"5-5", "5"}, Text{"1-3,2-9", "1-9"}, Text{"63,07", "7,63"}}) {
    const auto groups = GroupSet::parse(given);
    ASSERT_TRUE(groups) << given;
    EXPECT_EQ(groups->text(), shortest);
    EXPECT_EQ(*GroupSet::parse(groups->text()), *groups);
    EXPECT_EQ(*GroupSet::parse(groups->list()), *groups);
    EXPECT_EQ(groups->list().find('-'), std::string::npos);
  }
}

TEST(GroupSet, refuses_what_names_no_groups) {
  for (const char* text : {",", "1,", ",1", "64", "0-64", "3-2", "-1", "1-", "a", " 1", "1 ",
                           "1-2-3", "+1", "001", "0x1"}) {
    EXPECT_FALSE(GroupSet::parse(text)) << text;
  }
}

TEST(GroupSet, may_be_empty) {
  const auto none = GroupSet::parse("").value();
  EXPECT_TRUE(none.has_none());
  EXPECT_EQ(none.list(), "");
  EXPECT_EQ(none.text(), "none");
  EXPECT_FALSE(none.has_account("did:plc:a"));
  EXPECT_TRUE(GroupSet().has_all_of(none));
  EXPECT_FALSE(GroupSet().has_any_of(none));
}

TEST(GroupSet, compares_sets) {
  const auto some = GroupSet::parse("3-5").value();
  EXPECT_TRUE(some.has_all_of(GroupSet::parse("4").value()));
  EXPECT_FALSE(some.has_all_of(GroupSet::parse("4,6").value()));
  EXPECT_TRUE(some.has_any_of(GroupSet::parse("4,6").value()));
  EXPECT_FALSE(some.has_any_of(GroupSet::parse("6").value()));
}

TEST(GroupSet, has_the_accounts_of_its_groups) {
  EXPECT_TRUE(GroupSet().has_all());
  EXPECT_EQ(GroupSet().text(), "0-63");
  EXPECT_EQ(GroupSet::parse("0-31,32-63"), GroupSet());
  const auto groups = GroupSet::parse("46").value();
  EXPECT_FALSE(groups.has_all());
  EXPECT_TRUE(groups.has_account("abc"));
  EXPECT_FALSE(groups.has_account(""));
  EXPECT_FALSE(groups.has(64));
}

}  // namespace
}  // namespace skua::atproto::account_group_test
