#include "backfill/did_arguments.hpp"

#include <atomic>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "documents/errc.hpp"
#include "transport/errc.hpp"

namespace skua::backfill::did_arguments_test {
namespace {

using Texts = std::vector<std::string>;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kOther = "did:web:other.test";

NamedAccounts lines(const std::string& text) {
  std::istringstream in(text);
  return read_account_lines(in, "dids.txt");
}

TEST(AccountArguments, are_dids_and_handles) {
  const auto read =
      read_account_arguments(Texts{kDid, "Alice.Test", "@bob.test", "at://" + kDid,
                                   "https://bsky.app/profile/alice.test", "nobody", "did:plc:"});
  EXPECT_EQ(read.names, (Texts{kDid, "alice.test", "bob.test"}));
  EXPECT_EQ(read.problems,
            (Texts{"'nobody' is not a DID, a handle, an at:// URI or a URL of bsky.app",
                   "'did:plc:' is not a DID, a handle, an at:// URI or a URL of bsky.app"}));
}

TEST(AccountLines, may_have_comments_blanks_and_any_line_ends) {
  const auto read = lines("\xEF\xBB\xBF# a list\r\n" + kDid + "\r\n\r\n   \t\n  " + kOther +
                          "  # the other\n\t# indented\nalice.test\t#x\nbob.test");
  EXPECT_EQ(read.names, (Texts{kDid, kOther, "alice.test", "bob.test"}));
  EXPECT_TRUE(read.problems.empty());
}

TEST(AccountLines, name_wrong_ones_by_their_number) {
  const auto read = lines("# head\n" + kDid + "\nnobody\n\n" + kDid + "#x\n" + kDid + " " + kOther +
                          "\n\x1b[0m\n" + std::string(5000, 'a') + "\n" + kOther + "\n");
  EXPECT_EQ(read.names, (Texts{kDid, kOther}));
  EXPECT_EQ(
      read.problems,
      (Texts{
          "line 3 of dids.txt: 'nobody' is not a DID, a handle, an at:// URI or a URL of bsky.app",
          "line 5 of dids.txt: '" + kDid +
              "#x' is not a DID, a handle, an at:// URI or a URL of bsky.app",
          "line 6 of dids.txt: '" + kDid + " " + kOther +
              "' is not a DID, a handle, an at:// URI or a URL of bsky.app",
          "line 7 of dids.txt: this text is not a DID, a handle, an at:// URI or a URL of "
          "bsky.app",
          "line 8 of dids.txt: this text is not a DID, a handle, an at:// URI or a URL of "
          "bsky.app"}));
}

TEST(AccountLines, name_a_malformed_did_by_its_number_and_its_reason) {
  EXPECT_EQ(lines(kDid + "\ndid:plc:xxxx\n").problems,
            (Texts{"line 2 of dids.txt: 'did:plc:xxxx' is malformed: did:plc: is followed by 24 "
                   "characters of a-z and 2-7"}));
}

TEST(AccountLines, show_a_bounded_number_of_problems) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const auto read = lines(text);
  EXPECT_EQ(read.problems.size(), 100U);
  EXPECT_EQ(read.problem_count, 1000U);
}

TEST(AccountLines, of_nothing_are_nothing) {
  EXPECT_TRUE(lines("").names.empty());
  EXPECT_TRUE(lines("\n").names.empty());
}

TEST(ResolvedAccounts, are_dids_each_once_and_in_order) {
  std::atomic<int> asked = 0;
  const auto dns = [&](const std::string& name) -> Result<Texts> {
    ++asked;
    if (name == "_atproto.alice.test") return Texts{"did=" + kDid};
    if (name == "_atproto.bob.test") return Texts{"did=" + kOther};
    if (name.starts_with("_atproto.h")) {
      return Texts{"did=did:web:" + name.substr(std::string("_atproto.").size())};
    }
    return Texts{};
  };
  transport::HttpClientOptions options;
  options.lookup = [](const std::string&) -> Result<Texts> {
    return transport::errc::host_not_found;
  };
  transport::HttpClient http(options);
  const documents::HandleCheck check(http, dns);

  Texts names = {"bob.test", kDid, "alice.test", "lost.test"};
  Texts expected = {kOther, kDid};
  for (int i = 0; i < 50; ++i) {
    names.push_back(fmt::format("h{}.test", i));
    expected.push_back("did:web:" + names.back());
  }
  const auto resolved = resolve_accounts(names, check);
  EXPECT_EQ(resolved.names, expected);
  EXPECT_EQ(resolved.problems,
            Texts{"lost.test: " + make_error_code(documents::errc::handle_not_found).message()});
  EXPECT_EQ(asked, 53);
}

}  // namespace
}  // namespace skua::backfill::did_arguments_test
