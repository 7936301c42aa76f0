#include "filter/filter_file.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::filter::filter_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

tables::FilterContent content_of(const std::string& text) {
  std::istringstream in(text);
  return read_filter_lines(in, "filter.txt");
}

TEST(FilterLines, name_collections_prefixes_and_accounts_once) {
  const auto content = content_of(
      "\xef\xbb\xbf# what we keep\n"
      "app.bsky.graph.*\r\n"
      "  app.bsky.feed.post   # posts\n"
      "\n"
      "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa\t# a friend\n"
      "did:web:example.com\n"
      "app.bsky.feed.post");
  EXPECT_THAT(content.collections, ElementsAre("app.bsky.feed.post", "app.bsky.graph.*"));
  EXPECT_THAT(content.dids, ElementsAre("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "did:web:example.com"));
}

TEST(FilterLines, of_nothing_are_nothing) {
  EXPECT_TRUE(content_of("").empty());
  EXPECT_TRUE(content_of("# all\n\n").empty());
}

class BadLine : public testing::TestWithParam<const char*> {};

TEST_P(BadLine, is_named_with_its_number) {
  try {
    content_of("app.bsky.feed.post\n# two\n" + std::string(GetParam()) + "\n");
    FAIL() << "no error";
  } catch (const FilterError& error) {
    EXPECT_THAT(error.what(), HasSubstr("filter.txt:3: "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(, BadLine,
                         testing::Values("posts", "bsky.app", "*", "app.*", "did:plc",
                                         "did:", "did:plc:a", "did:key:abc", "app.bsky.feed.post#a",
                                         "a b", "at://did:plc:a",
                                         "at://did:plc:a/app.bsky.graph.list/3kabc"));

/// A file that the test writes, as a file system would have it.
class FilterFileTest : public testing::Test {
 protected:
  void write(const std::string& text) {
    text_ = text;
    ++stamp_.modified_ns;
  }
  FilterFile file() {
    return FilterFile("f", {[this](const std::string&) {
                              return is_there_ ? std::optional(stamp_) : std::nullopt;
                            },
                            [this](const std::string&) {
                              ++reads_;
                              return text_;
                            }});
  }

  std::string text_ = "app.bsky.feed.post\n";
  FileStamp stamp_{1, 1, 1};
  bool is_there_ = true;
  int reads_ = 0;
};

TEST_F(FilterFileTest, is_read_again_when_it_changed_and_then_stayed) {
  FilterFile watched = file();
  EXPECT_THAT(watched.read().collections, ElementsAre("app.bsky.feed.post"));
  EXPECT_EQ(watched.look(), std::nullopt);
  write("");
  EXPECT_EQ(watched.look(), std::nullopt);
  write("app.bsky.feed.like\n");
  EXPECT_EQ(watched.look(), std::nullopt);
  const auto content = watched.look();
  ASSERT_TRUE(content);
  EXPECT_THAT(content->collections, ElementsAre("app.bsky.feed.like"));
  EXPECT_EQ(watched.look(), std::nullopt);
  EXPECT_EQ(reads_, 2);
}

TEST_F(FilterFileTest, that_is_gone_says_nothing_until_it_is_back) {
  FilterFile watched = file();
  watched.read();
  is_there_ = false;
  EXPECT_EQ(watched.look(), std::nullopt);
  EXPECT_EQ(watched.look(), std::nullopt);
  is_there_ = true;
  write("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa\n");
  EXPECT_EQ(watched.look(), std::nullopt);
  const auto content = watched.look();
  ASSERT_TRUE(content);
  EXPECT_THAT(content->collections, IsEmpty());
  EXPECT_THAT(content->dids, ElementsAre("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"));
}

TEST_F(FilterFileTest, that_is_none_says_so_once) {
  FilterFile watched = file();
  watched.read();
  write("posts\n");
  EXPECT_EQ(watched.look(), std::nullopt);
  EXPECT_THROW(watched.look(), FilterError);
  EXPECT_EQ(watched.look(), std::nullopt);
}

TEST(FileSystem, reads_what_is_there) {
  const std::string path = testing::TempDir() + "/filter_file_test";
  EXPECT_EQ(file_system().stamp(path + ".none"), std::nullopt);
  EXPECT_THROW(file_system().read(path + ".none"), FilterError);
}

TEST(Merged, has_what_either_has_once) {
  const auto both = merged({{"b.c.d", "a.b.c"}, {"did:plc:b"}}, {{"a.b.c"}, {"did:plc:a"}});
  EXPECT_THAT(both.collections, ElementsAre("a.b.c", "b.c.d"));
  EXPECT_THAT(both.dids, ElementsAre("did:plc:a", "did:plc:b"));
}

}  // namespace
}  // namespace skua::filter::filter_file_test
