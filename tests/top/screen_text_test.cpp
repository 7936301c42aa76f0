#include "top/screen_text.hpp"

#include <gtest/gtest.h>

namespace skua::top::screen_text_test {
namespace {

using Lines = std::vector<Line>;

TEST(ScreenText, sends_the_lines_that_differ) {
  const Lines before = {Line("one"), Line("two"), Line("three")};
  EXPECT_EQ(screen_text(before, before, true), "");
  EXPECT_EQ(screen_text(before, {Line("one"), Line("2"), Line("three")}, true),
            "\x1b[2;1H\x1b[0m\x1b[2K2");
  // Shorter: the last line is erased.
  EXPECT_EQ(screen_text(before, {Line("one"), Line("two")}, true), "\x1b[3;1H\x1b[0m\x1b[2K");
  EXPECT_EQ(screen_text({}, {Line("a")}, true), "\x1b[1;1H\x1b[0m\x1b[2Ka");
}

TEST(ScreenText, of_an_unknown_screen_erases_it) {
  EXPECT_EQ(whole_screen_text({Line("a")}, true), "\x1b[0m\x1b[H\x1b[2J\x1b[1;1H\x1b[0m\x1b[2Ka");
}

TEST(ScreenText, has_styles_also_without_colours) {
  const Lines lines = {Line("a").add("b", Style::Bad).add("c", Style::Bad).add("d")};
  EXPECT_EQ(screen_text({}, lines, true), "\x1b[1;1H\x1b[0m\x1b[2Ka\x1b[0;1;31mbc\x1b[0md");
  EXPECT_EQ(screen_text({}, lines, false), "\x1b[1;1H\x1b[0m\x1b[2Ka\x1b[0;7mbc\x1b[0md");
}

TEST(ScreenText, places_what_follows_a_text_beyond_ascii) {
  const Lines lines = {Line("ab").add("森").add("c").add("d")};
  EXPECT_EQ(screen_text({}, lines, true), "\x1b[1;1H\x1b[0m\x1b[2Kab森\x1b[5Gc\x1b[6Gd");
}

}  // namespace
}  // namespace skua::top::screen_text_test
