#include "records/uri.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/shared_data.hpp"

namespace skua::records {
namespace {

TEST(UriTest, NeedsASchemeAndSomethingAfterIt) {
  for (const char* uri :
       {"https://a.example", "https://a.example/p?q=1#f", "at://did:web:a.example/b.c.d/e",
        "mailto:a@b.example", "go://?x", "a-b.c+d:e"}) {
    EXPECT_TRUE(is_uri(uri)) << uri;
  }
  for (const char* uri : {"", ":", "a:", "a://", "a.example", "://a.example", "1a:b", "//a.example",
                          "https://a.example/a b", "https://a.example\n", "https:///a"}) {
    EXPECT_FALSE(is_uri(uri)) << uri;
  }
}

TEST(UriTest, AgreesWithTheInteropVectors) {
  SKUA_NEED_SHARED();
  constexpr std::size_t kLongest = 8192;  // a limit, checked elsewhere
  for (const bool valid : {true, false}) {
    std::ifstream file(*test::shared_dir() / "data/interop/syntax" /
                       (valid ? "uri_syntax_valid.txt" : "uri_syntax_invalid.txt"));
    std::string line;
    int checked = 0;
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#' || line.size() > kLongest) continue;
      EXPECT_EQ(is_uri(line), valid) << line;
      ++checked;
    }
    EXPECT_GT(checked, 5);
  }
}

}  // namespace
}  // namespace skua::records
