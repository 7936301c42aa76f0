#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "lexicon/lexicon_rules.hpp"
#include "lexicon/violation.hpp"

namespace skua::test::graphemes_test {
namespace {

using lexicon::has_more_graphemes;

struct Text {
  const char* name;
  std::string text;
  std::size_t graphemes;

  friend std::ostream& operator<<(std::ostream& out, const Text& sample) {
    return out << sample.name;
  }
};

class Graphemes : public testing::TestWithParam<Text> {};

TEST_P(Graphemes, are_counted) {
  const auto& [name, text, graphemes] = GetParam();
  EXPECT_FALSE(has_more_graphemes(text, graphemes));
  EXPECT_FALSE(has_more_graphemes(text, graphemes + 1));
  if (graphemes > 0) {
    EXPECT_TRUE(has_more_graphemes(text, graphemes - 1));
  }
}

std::string name_of_text(const testing::TestParamInfo<Text>& info) {
  return info.param.name;
}

const std::string kFamily = "👨‍👩‍👧‍👧";
const std::string kFlag = "🇨🇭";

INSTANTIATE_TEST_SUITE_P(
    Texts, Graphemes,
    testing::Values(Text{"empty", "", 0}, Text{"ascii", "hello", 5}, Text{"lines", "a\nb\rc", 5},
                    Text{"lines_of_windows", "a\r\nb\r\n\n", 5},
                    Text{"reversed_line_end", "\n\r", 2}, Text{"latin", "größer", 6},
                    Text{"combining", "e\u0301e\u0301", 2}, Text{"japanese", "こんにちは", 5},
                    Text{"korean_letters", "\u1112\u1161\u11ab", 1}, Text{"family", kFamily, 1},
                    Text{"families", repeated(kFamily, 300), 300},
                    Text{"flags", repeated(kFlag, 7), 7}, Text{"skin", "👍🏽👍", 2},
                    Text{"line_end_beyond_ascii", "é\r\né", 3},
                    Text{"many_marks", "a" + repeated("\u0301", 5000), 1}),
    name_of_text);

TEST(GraphemesTest, each_thread_has_its_iterator) {
  const std::string text = repeated(kFamily, 1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_FALSE(has_more_graphemes(text, 1000));
        EXPECT_TRUE(has_more_graphemes(text, 999));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace skua::test::graphemes_test
