#include "top/line.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::top::line_test {
namespace {

TEST(Line, makes_texts_printable) {
  Line line("a\x1b[31m\n");
  line.add("\u202e\xff");
  EXPECT_EQ(line.text(), "a?[31m ????");
}

TEST(Line, pads_and_cuts_by_columns) {
  Line line("森", Style::Bad);
  line.pad(5).add("xyz", Style::Good);
  EXPECT_EQ(line.width(), 8U);
  EXPECT_EQ(line.text(), "森   xyz");
  EXPECT_EQ(Line(line).cut(8), line);
  EXPECT_EQ(Line(line).cut(7).text(), "森   x…");
  // The next text begins after the cut: it is marked all the same.
  EXPECT_EQ(Line(line).cut(5).text(), "森  …");
  EXPECT_EQ(Line(line).cut(1).text(), "…");
  EXPECT_EQ(Line(line).cut(0).text(), "");
  for (std::size_t columns = 0; columns < 10; ++columns) {
    EXPECT_LE(Line(line).cut(columns).width(), columns);
  }
}

TEST(SharedOut, gives_nobody_more_than_it_wants) {
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(shared_out({}, 5), Numbers());
  EXPECT_EQ(shared_out({3, 1, 2}, 100), (Numbers{3, 1, 2}));
  EXPECT_EQ(shared_out({10, 1, 10}, 9), (Numbers{4, 1, 4}));
  EXPECT_EQ(shared_out({10, 10, 10}, 2), (Numbers{1, 1, 0}));
  EXPECT_EQ(shared_out({10, 10}, 0), (Numbers{0, 0}));
}

TEST(Table, puts_numbers_on_the_right) {
  Table table({{"name"}, {"count", true}, {"error"}});
  table.add({{"one"}, {"1"}, {"broken"}});
  table.add({{"森カメ"}, {"1,234"}, {""}});
  std::string text;
  for (const Line& line : table.lines(80)) text += line.text() + "\n";
  EXPECT_EQ(text,
            "name    count  error\n"
            "one         1  broken\n"
            "森カメ  1,234\n");
}

TEST(Table, cuts_texts_and_keeps_numbers) {
  Table table({{"name"}, {"count", true}, {"detail", false, 40}, {"error"}});
  table.add({{"a long name"}, {"12,345"}, {"hidden"}, {"a long reason"}});
  EXPECT_EQ(table.lines(30).at(1).text(), "a long name  12,345  a long r…");
  EXPECT_EQ(table.lines(26).at(1).text(), "a long …  12,345  a long …");
  EXPECT_EQ(table.lines(60).at(1).text(), "a long name  12,345  hidden  a long reason");
  for (std::size_t width = 0; width < 50; ++width) {
    for (const Line& line : table.lines(width)) EXPECT_LE(line.width(), width);
  }
  EXPECT_TRUE(Table({{"name"}}).lines(80).empty());
}

TEST(NumberText, is_for_people) {
  EXPECT_EQ(number_text(std::nullopt), "-");
  EXPECT_EQ(number_text(1234567.0), "1,234,567");
  EXPECT_EQ(number_text(1234.56, 1), "1,234.6");
  EXPECT_EQ(number_text(-0.04, 1), "0.0");
  EXPECT_EQ(number_text(-1.5, 1), "-1.5");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(seconds_text(0.0123), "12 ms");
  EXPECT_EQ(seconds_text(3.44), "3.4 s");
  EXPECT_EQ(seconds_text(600.0), "10 min");
  EXPECT_EQ(seconds_text(9000.0), "2.5 h");
  EXPECT_EQ(seconds_text(200000.0), "2.3 d");
  EXPECT_EQ(bytes_text(-2.5e6), "-2.5 MB");
}

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
}  // namespace skua::top::line_test
