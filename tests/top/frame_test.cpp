#include "top/frame.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "command_line/display_text.hpp"
#include "top/made_pages.hpp"
#include "top/sections.hpp"

namespace skua::top::frame_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// 2026-07-04T14:38:08Z
const Origin kOrigin{"http://127.0.0.1:2580", Timestamp(1'783'175'888s)};

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> all;
  for (const Line& line : lines) all.push_back(line.text());
  return all;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string all;
  for (const std::string& line : texts(lines)) all += line + "\n";
  return all;
}

View view_of(std::size_t section) {
  View view;
  view.section = section;
  return view;
}

Snapshot ready_snapshot() {
  Model model = made_model();
  model.add(made_answer(Page::Health, made_health("", true), 10s));
  model.add(made_answer(Page::Process, made_process(40), 10s));
  return model.snapshot(kMadeStart + 11s);
}

TEST(Frame, of_a_small_terminal) {
  const Frame frame = make_frame(ready_snapshot(), View(), kOrigin, {24, 80});
  EXPECT_EQ(text_of(frame.lines),
            R"(skua top  ready  http://127.0.0.1:2580                   14:38:08 UTC  every 2 s
events/s 40.0   rows/s 20.0   lag 500 ms   p50 5 ms   p99 10 ms   in flight 7
Sources [2]
source   state          cursor     lag  messages/s  dropped since start
tap:b    not connected       -       -           -  -
relay:a  active          12345  500 ms        40.0  old_rev 3
Workers [3]  events in the queues of each worker
                         live  events/s               backfill  events/s
actor         0  3,000  6,000     120.0        0  3,000  6,000     120.0
like          0  3,000  6,000     120.0        0  3,000  6,000     120.0
social        0  3,000  6,000     120.0        0  3,000  6,000     120.0
post          0  3,000  6,000     120.0        0  3,000  6,000     120.0
metadata      0  3,000  6,000     120.0        0  3,000  6,000     120.0
Collections [4]  operations
collection              per second  since start
app.bsky.feed.post           40.00          500
app.bsky.feed.postgate        0.00            5
Consumers [5]
consumer    kind        state      lag  changes behind  reason
post_stats  projection  paused  12.5 s           1,234  a lane failed
Dead letters [6]  1 of 3 lines
count  reason
   17  a record is malformed
q quit  Tab, 0-9 section  arrows scroll  p pause  + - interval  r read  h help
)");
}

TEST(Frame, of_a_small_terminal_shows_a_cure_and_what_needs_attention) {
  Snapshot snapshot = made_model().snapshot(kMadeStart + 11s);
  snapshot.consumers.insert(snapshot.consumers.begin(),
                            {"first", "projection", "running", 0, 0, {}, 0, ""});
  snapshot.collections.insert(snapshot.collections.begin(), {"first", 1, 9'000, false});
  const std::string text = text_of(make_frame(snapshot, View(), kOrigin, {30, 80}).lines);
  EXPECT_THAT(text, HasSubstr("\nsource-down: a source cannot be reached\n"
                              "  relay:a: no connection for 12 s\n"
                              "  Check the address and the network.\n"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "\ncollection +per second +since start\napp.bsky.feed.post \\(quiet"));
  EXPECT_THAT(text, HasSubstr("\npost_stats  projection  paused"));
}

TEST(Frame, of_a_large_terminal_has_two_columns_and_everything) {
  const Frame frame =
      make_frame(made_model().snapshot(kMadeStart + 11s), View(), kOrigin, {50, 140});
  const std::string text = text_of(frame.lines);
  for (const char* part :
       {"not-ready", "source-down: a source cannot be reached", "relay:a: no connection for 12 s",
        "Check the address and the network.", "tap:b", "not connected", "app.bsky.feed.postgate",
        "app.bsky.feed.post (quiet)", "post_stats", "a lane failed", "a record is malformed",
        "about 80.0 s left", "pds.example", "2.0 GB, growth 3.6 GB per hour",
        "alice.test  Hello"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(texts(frame.lines), Contains(testing::ContainsRegex("Workers .*Consumers ")));
}

TEST(Frame, says_that_nobody_answers_and_how_old_the_numbers_are) {
  Model model = made_model();
  model.add(made_failure(Page::Health, "the host cannot be reached", 12s));
  const Frame frame = make_frame(model.snapshot(kMadeStart + 24s), View(), kOrigin, {24, 120});
  EXPECT_THAT(frame.lines.at(0).text(), HasSubstr("skua top  no answer  http://"));
  EXPECT_EQ(frame.lines.at(2).text(),
            "No answer for 12.0 s, the numbers are 14.0 s old: the host cannot be reached");
  EXPECT_THAT(text_of(frame.lines), HasSubstr("relay:a"));
}

TEST(Frame, says_that_an_answer_is_late) {
  const Snapshot late = made_model().snapshot(kMadeStart + 10s + 8s);
  EXPECT_EQ(make_frame(late, View(), kOrigin, {24, 80}).lines.at(2).text(),
            "The numbers are 8.0 s old");
  View rare;
  rare.every = 30s;
  EXPECT_THAT(make_frame(late, rare, kOrigin, {24, 80}).lines.at(2).text(),
              HasSubstr("Problems [1]"));
}

TEST(Frame, says_that_the_numbers_of_the_database_are_old) {
  Model model = made_model();
  model.add(
      made_answer(Page::Status, R"({"error":"database-down","message":"refused"})", 11s, 503));
  const Frame frame = make_frame(model.snapshot(kMadeStart + 13s), View(), kOrigin, {24, 120});
  EXPECT_EQ(frame.lines.at(2).text(),
            "The numbers of the database are 3.0 s old: /status: database-down: refused");
}

TEST(Frame, says_that_there_are_no_numbers_of_the_database) {
  Model model;
  model.add(made_answer(Page::Health, made_health("", true), 0s));
  model.add(made_answer(Page::Process, made_process(1), 0s));
  model.add(made_failure(Page::Latest, "it did not answer in time", 0s));
  const Frame frame = make_frame(model.snapshot(kMadeStart + 1s), View(), kOrigin, {24, 120});
  EXPECT_EQ(frame.lines.at(2).text(),
            "There are no numbers of the database: it did not answer in time");
}

TEST(Frame, shows_the_interval_and_a_pause) {
  View view;
  view.apply(Action::Slower, 1);
  view.apply(Action::Pause, 1);
  EXPECT_THAT(make_frame(ready_snapshot(), view, kOrigin, {24, 80}).lines[0].text(),
              testing::EndsWith(" 14:38:08 UTC  every 4 s  paused"));
}

TEST(Frame, before_the_first_answer) {
  Model model;
  EXPECT_THAT(make_frame(model.snapshot(kMadeStart), View(), kOrigin, {24, 80}).lines[0].text(),
              HasSubstr("connecting"));
  model.add(made_failure(Page::Process, "the host cannot be reached", 0s));
  const Frame frame = make_frame(model.snapshot(kMadeStart + 2s), View(), kOrigin, {24, 120});
  EXPECT_EQ(frame.lines[2].text(), "No answer for 2.0 s: the host cannot be reached");
}

TEST(Frame, scrolls_a_section_below_the_head_of_its_table) {
  Snapshot snapshot;
  for (int i = 0; i < 30; ++i)
    snapshot.collections.push_back({"c" + std::to_string(i), 1, 1, false});
  View view = view_of(section::kCollections);
  view.scroll = 5;
  Frame frame = make_frame(snapshot, view, kOrigin, {15, 80});
  // Above: two lines, the heading and the head. Below: the keys.
  EXPECT_EQ(frame.page, 10U);
  EXPECT_EQ(frame.most_scroll, 20U);
  EXPECT_THAT(frame.lines[3].text(), HasSubstr("per second"));
  EXPECT_THAT(frame.lines[4].text(), HasSubstr("c5 "));
  EXPECT_THAT(frame.lines[13].text(), HasSubstr("c14 "));
  view.apply(Action::Last, frame.page);
  frame = make_frame(snapshot, view, kOrigin, {15, 80});
  EXPECT_THAT(frame.lines[4].text(), HasSubstr("c20 "));
  EXPECT_THAT(frame.lines[13].text(), HasSubstr("c29 "));
}

TEST(Report, has_all_sections) {
  const std::string text =
      text_of(make_report(made_model().snapshot(kMadeStart + 11s), kOrigin, 120));
  for (const char* part :
       {"Problems [1]", "Sources [2]", "Workers [3]", "Collections [4]", "Consumers [5]",
        "Dead letters [6]", "Backfill [7]", "Database [8]", "Newest posts [9]", "did:plc:abc"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("q quit")));
  EXPECT_THAT(text, Not(HasSubstr("every")));
}

TEST(Report, of_a_query_database_has_its_nodes) {
  Model model;
  model.add(made_answer(Page::Health, R"({"status":"ready","reasons":[],"warnings":[]})"));
  model.add(made_answer(Page::Process, R"({"sources":[],"workers":[],"collections":[]})"));
  model.add(made_answer(Page::Status, made_network()));
  const Snapshot snapshot = model.snapshot(kMadeStart + 1s);
  const std::string text = text_of(make_report(snapshot, kOrigin, 120));
  EXPECT_THAT(text, HasSubstr("nodes 2   cannot be read 1   oldest 3"));
  EXPECT_THAT(text, HasSubstr("Nodes [2]  no node owns the groups 62-63"));
  EXPECT_THAT(text, HasSubstr("cannot be read: could not connect to server"));
  EXPECT_LT(text.find("east"), text.find("west")) << "rows that need attention are first";
  EXPECT_THAT(text, Not(HasSubstr("Workers [3]")));
  const Frame frame = make_frame(snapshot, view_of(section::kWorkers), kOrigin, {24, 80});
  EXPECT_THAT(text_of(frame.lines), HasSubstr("Each node has its own: see its pages."));
}

// ---- Every content in every size ----

const std::vector<Size> kSizes = {{0, 0},    {1, 1},    {1, 200},  {200, 1}, {2, 10},   {3, 20},
                                  {5, 40},   {6, 6},    {10, 60},  {24, 80}, {25, 119}, {25, 120},
                                  {12, 120}, {50, 140}, {60, 237}, {4, 150}, {100, 300}};

std::string long_text() {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "森";
  return text;
}

std::string marks() {
  std::string text = "a";
  for (int i = 0; i < 2'000; ++i) text += "\u0301";
  return text;
}

const std::vector<std::string> kTexts = {
    "",
    "\x1b[2J\x1b]0;title\x07\x1bP\x9b"
    "31m",
    std::string("a\0b\r\n\t\b\x7f", 8),
    "\u202eright to left\u2066\u200f دانو",
    "\xff\xfe\xc3",
    "👩‍👩‍👧🇪🇺❤\ufe0f👍🏽",
    marks(),
    long_text(),
    std::string(5'000, ' '),
    "{}%s\\u0000\"",
};

bool is_clean(const Line& line) {
  return std::all_of(line.spans().begin(), line.spans().end(), [](const Span& span) {
    return printable(span.text, std::numeric_limits<std::size_t>::max()) == span.text &&
           is_utf8(span.text);
  });
}

void expect_fits(const Snapshot& snapshot, const View& view, Size size) {
  const Frame frame = make_frame(snapshot, view, kOrigin, size);
  ASSERT_EQ(frame.lines.size(), size.rows);
  for (const Line& line : frame.lines) {
    std::size_t width = 0;
    for (const Span& span : line.spans()) width += command_line::display_width(span.text);
    ASSERT_EQ(width, line.width()) << line.text();
    ASSERT_LE(width, size.columns) << line.text();
    ASSERT_TRUE(is_clean(line)) << escaped(line.text());
  }
}

class EveryContent : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryContent, fits_every_terminal) {
  Model model = made_model(kTexts[GetParam()]);
  model.add(made_failure(Page::Status, kTexts[GetParam()] + "refused", 12s));
  const Snapshot snapshot = model.snapshot(kMadeStart + 20s);
  for (const Size size : kSizes) {
    SCOPED_TRACE(std::to_string(size.rows) + "x" + std::to_string(size.columns));
    for (std::size_t section = 0; section <= kSections; ++section) {
      View view = view_of(section);
      expect_fits(snapshot, view, size);
      view.scroll = 1'000'000;
      expect_fits(snapshot, view, size);
    }
    View help;
    help.shows_help = true;
    expect_fits(snapshot, help, size);
    expect_fits(Snapshot(), View(), size);
    for (const Line& line : make_report(snapshot, kOrigin, size.columns)) {
      ASSERT_LE(line.width(), size.columns);
      ASSERT_TRUE(is_clean(line));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, EveryContent, testing::Range<std::size_t>(0, 10));

}  // namespace
}  // namespace skua::top::frame_test
