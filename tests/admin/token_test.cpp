#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/guard.hpp"

namespace skua::admin::token_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kToken = "0123456789abcdefghij";

class TokenTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "skua-token-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& content, ::mode_t mode = 0600) {
    const std::string name = (folder_ / "token").string();
    std::filesystem::remove(name);
    std::ofstream(name, std::ios::binary) << content;
    EXPECT_EQ(::chmod(name.c_str(), mode), 0);
    return name;
  }
  /// The message of the refusal; empty: the file was accepted.
  std::string refusal(const std::string& file) {
    try {
      Token::read(file);
    } catch (const TokenError& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
};

TEST_F(TokenTest, spaces_and_line_ends_around_the_token_do_not_count) {
  for (const std::string content :
       {"0123456789abcdefghij", "0123456789abcdefghij\n", " \t0123456789abcdefghij \r\n\r\n"}) {
    const Token token = Token::read(write(content));
    EXPECT_TRUE(token.matches(kToken));
    EXPECT_FALSE(token.matches(content + "x"));
  }
}

TEST_F(TokenTest, only_the_whole_token_matches) {
  const Token token{std::string_view(kToken)};
  EXPECT_TRUE(token.matches("0123456789abcdefghij"));
  for (const char* wrong : {"", "0123456789abcdefghi", "0123456789abcdefghijk",
                            "1123456789abcdefghij", "0123456789abcdefghiJ"}) {
    EXPECT_FALSE(token.matches(wrong)) << wrong;
  }
}

TEST_F(TokenTest, a_short_token_is_refused_without_its_text) {
  const std::string text = refusal(write("0123456789abcdefghi\n"));
  EXPECT_THAT(text, HasSubstr("has 19 characters and needs at least 20"));
  EXPECT_THAT(text, Not(HasSubstr("0123456789")));
  EXPECT_THAT(refusal(write("")), HasSubstr("has 0 characters"));
  EXPECT_EQ(refusal(write(kToken)), "");
}

TEST_F(TokenTest, a_long_token_is_refused) {
  EXPECT_EQ(refusal(write(std::string(Token::kLongest, 'x'))), "");
  EXPECT_THAT(refusal(write(std::string(Token::kLongest + 1, 'x'))),
              HasSubstr("more than 1024 characters"));
  EXPECT_THAT(refusal(write(std::string(1'000'000, ' ') + kToken)), HasSubstr("more than"));
}

TEST_F(TokenTest, several_tokens_and_other_characters_are_refused) {
  for (const char* content :
       {"0123456789abcdefghij 0123456789abcdefghij", "0123456789abcdefghij\n0123456789abcdefghij",
        "0123456789abcdefghi\xc3\xa9",
        "0123456789\x01"
        "abcdefghij"}) {
    EXPECT_THAT(refusal(write(content)), HasSubstr("one token of ASCII characters"));
  }
}

TEST_F(TokenTest, other_users_must_have_no_rights) {
  for (const ::mode_t mode : {0604, 0602, 0601, 0644, 0777}) {
    EXPECT_THAT(refusal(write(kToken, mode)), HasSubstr("chmod 600")) << mode;
  }
  for (const ::mode_t mode : {0400, 0600, 0640, 0660}) {
    EXPECT_EQ(refusal(write(kToken, mode)), "") << mode;
  }
}

TEST_F(TokenTest, what_cannot_be_read_is_refused) {
  EXPECT_THAT(refusal((folder_ / "none").string()), HasSubstr("cannot be read: No such file"));
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("is not a regular file"));
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace skua::admin::token_test
