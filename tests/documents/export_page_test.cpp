#include "documents/export_page.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents/made_export.hpp"

namespace skua::documents::export_page_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;
using test::kExportStart;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const Timestamp kNow = kExportStart + 1h;

/// Eight letters for a number.
std::string letters(std::int64_t number) {
  std::string text(8, 'a');
  for (char& letter : text) {
    letter = static_cast<char>('a' + number % 26);
    number /= 26;
  }
  return text;
}

std::string did_of(int number) {
  return "did:plc:" + std::string(16, 'a') + letters(number);
}

/// An operation of an account with this number, made so long after the start.
struct Made {
  milliseconds after;
  int number;
  json operation = test::made_operation();
  bool nullified = false;

  std::string line() const {
    return test::made_line(did_of(number), after, operation, nullified,
                           "bafyrei" + letters(number) + letters(after.count()));
  }
};

/// A directory's export: gives the lines after a time, in their order, at most a page.
class Directory {
 public:
  void add(const Made& made) { lines_.emplace(kExportStart + made.after, made.line()); }
  /// A line that does not tell its time.
  void add(Timestamp at, const std::string& text) { lines_.emplace(at, text); }

  std::string page(Timestamp after) const {
    std::string body;
    std::size_t count = 0;
    for (auto at = lines_.upper_bound(after); at != lines_.end() && count < kExportPageLines;
         ++at, ++count) {
      body += at->second + '\n';
    }
    return body;
  }

 private:
  std::multimap<Timestamp, std::string> lines_;
};

/// A reader behind a cursor, which applies what it reads.
class ExportPagesTest : public testing::Test {
 protected:
  /// Reads one page.
  ExportPage next(Timestamp now = kNow) {
    ExportPage page = pages_.read(directory_.page(pages_.after(cursor_)), cursor_, now);
    cursor_ = page.cursor;
    for (const IdentityRow& row : page.rows) ++applied_[row.did];
    return page;
  }
  ExportPage read(const std::string& body, Timestamp now = kNow) {
    ExportPage page = pages_.read(body, cursor_, now);
    cursor_ = page.cursor;
    return page;
  }
  /// Reads pages until the end; returns their number.
  int read_all() {
    int pages = 1;
    while (!next().is_end) {
      if (++pages > 100) throw std::runtime_error("it does not end");
    }
    return pages;
  }
  /// How often each account was applied, if not once.
  std::vector<std::string> repeated() const {
    std::vector<std::string> dids;
    for (const auto& [did, times] : applied_) {
      if (times != 1) dids.push_back(did);
    }
    return dids;
  }
  static std::uint64_t dropped(const ExportPage& page, ExportDrop reason) {
    return page.dropped.at(static_cast<std::size_t>(reason));
  }

  Directory directory_;
  ExportPages pages_;
  tables::PlcCursor cursor_{.newest = kExportStart, .current_at = kExportStart};
  std::map<std::string, int> applied_;
};

TEST_F(ExportPagesTest, applies_each_operation_once) {
  directory_.add({1s, 1});
  directory_.add({2s, 2});
  const ExportPage page = next();
  EXPECT_TRUE(page.is_end);
  EXPECT_EQ(page.applied, 2U);
  EXPECT_EQ(cursor_.newest, kExportStart + 2s);
  EXPECT_EQ(cursor_.current_at, kNow);
  EXPECT_EQ(cursor_.cids.size(), 1U) << "the first is a second older";
  const ExportPage again = next(kNow + 3s);
  EXPECT_EQ(again.applied, 0U);
  EXPECT_THAT(again.rows, IsEmpty());
  EXPECT_EQ(again.cursor.newest, kExportStart + 2s);
  EXPECT_EQ(cursor_.current_at, kNow + 3s);
}

TEST_F(ExportPagesTest, the_newest_operation_of_a_did_counts) {
  directory_.add({1s, 1, test::made_operation("one.example")});
  directory_.add({2s, 1, test::made_operation("two.example")});
  directory_.add({3s, 1, test::made_operation("three.example"), true});
  directory_.add({4s, 2, {{"type", "plc_tombstone"}}});
  const ExportPage page = next();
  EXPECT_EQ(page.applied, 3U);
  EXPECT_EQ(dropped(page, ExportDrop::Nullified), 1U);
  ASSERT_EQ(page.rows.size(), 2U);
  for (const IdentityRow& row : page.rows) {
    EXPECT_EQ(row.handle, row.did == did_of(1) ? "two.example" : "");
    EXPECT_EQ(row.fetched_at, kNow);
  }
  EXPECT_EQ(cursor_.newest, kExportStart + 4s) << "a nullified operation moves the cursor, too";
}

/// Operations at one instant, and those before and after it.
struct Instant {
  const char* name;
  int before;
  int at_once;
  int after;
  int pages;
};

class ExportPagesInstantTest : public ExportPagesTest,
                               public testing::WithParamInterface<Instant> {};

TEST_P(ExportPagesInstantTest, loses_and_repeats_nothing) {
  const Instant& with = GetParam();
  int number = 0;
  for (int i = 0; i < with.before; ++i) directory_.add({milliseconds(10 + 10 * i), ++number});
  const milliseconds instant(100'000);
  for (int i = 0; i < with.at_once; ++i) directory_.add({instant, ++number});
  for (int i = 0; i < with.after; ++i) directory_.add({instant + milliseconds(1 + i), ++number});
  EXPECT_EQ(read_all(), with.pages);
  EXPECT_EQ(applied_.size(), static_cast<std::size_t>(number));
  EXPECT_THAT(repeated(), IsEmpty());
  EXPECT_EQ(next().applied, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExportPagesInstantTest,
    testing::Values(Instant{"in_one_page", 10, 10, 10, 1},
                    // The second page repeats a hundred of the last second.
                    Instant{"of_several_pages", 1500, 0, 0, 2},
                    Instant{"at_the_boundary", 995, 10, 5, 2},
                    // A page of the last second has nothing new; the next one begins closer.
                    Instant{"that_nearly_fills_a_page", 0, 999, 2, 3},
                    Instant{"that_fills_a_page", 0, 1000, 5, 4}),
    [](const auto& each) { return each.param.name; });

TEST_F(ExportPagesTest, an_operation_that_becomes_visible_late_is_not_missed) {
  directory_.add({5s, 1});
  next();
  directory_.add({4'300ms, 2});
  EXPECT_EQ(next().applied, 1U);
  EXPECT_EQ(next().applied, 0U);
}

TEST_F(ExportPagesTest, a_restart_continues_without_repetition) {
  for (int i = 1; i <= 1200; ++i) directory_.add({milliseconds(i), i});
  next();
  pages_ = ExportPages();
  read_all();
  EXPECT_EQ(applied_.size(), 1200U);
  EXPECT_THAT(repeated(), IsEmpty());
}

TEST_F(ExportPagesTest, a_future_operation_hides_nothing) {
  directory_.add({1s, 1});
  directory_.add({2h, 2});
  const ExportPage page = next();
  EXPECT_EQ(page.applied, 1U);
  EXPECT_EQ(dropped(page, ExportDrop::Future), 1U);
  EXPECT_EQ(cursor_.newest, kExportStart + 1s);
  directory_.add({2s, 3});
  const ExportPage after = next();
  EXPECT_EQ(after.applied, 1U);
  EXPECT_EQ(dropped(after, ExportDrop::Future), 0U) << "it is counted once";
  // Its time has come.
  EXPECT_EQ(next(kExportStart + 2h).applied, 1U);
  EXPECT_EQ(cursor_.newest, kExportStart + 2h);
}

TEST_F(ExportPagesTest, a_directory_whose_clock_is_ahead_does_not_move_the_cursor_into_the_future) {
  directory_.add({1h + 4min, 1});
  EXPECT_EQ(next().applied, 1U);
  EXPECT_EQ(cursor_.newest, kNow);
  directory_.add({1h + 1min, 2});
  EXPECT_EQ(next(kNow + 1s).applied, 1U);
  EXPECT_EQ(next(kNow + 2s).applied, 0U);
  EXPECT_THAT(repeated(), IsEmpty());
}

TEST_F(ExportPagesTest, a_page_of_future_operations_is_the_end) {
  for (int i = 0; i < 1000; ++i) directory_.add({3h + milliseconds(i), i});
  const ExportPage page = next();
  EXPECT_TRUE(page.is_end);
  EXPECT_EQ(dropped(page, ExportDrop::Future), 1000U);
  EXPECT_EQ(cursor_.newest, kExportStart);
}

TEST_F(ExportPagesTest, unusable_lines_are_counted_once_and_passed) {
  directory_.add(kExportStart + 1s, "{");
  directory_.add(kExportStart + 1s, std::string(70'000, 'x'));
  directory_.add({2s, 1, {{"type", "other"}}});
  directory_.add({2s, 2});
  const ExportPage page = next();
  EXPECT_EQ(page.applied, 1U);
  EXPECT_EQ(dropped(page, ExportDrop::Malformed), 2U);
  EXPECT_EQ(dropped(page, ExportDrop::TooLong), 1U);
  EXPECT_EQ(cursor_.newest, kExportStart + 2s);
  const ExportPage again = read("{\n" + std::string(70'000, 'x') + '\n' + Made{2s, 2}.line());
  EXPECT_THAT(again.dropped, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_FALSE(again.is_stuck);
}

TEST_F(ExportPagesTest, a_page_of_unknown_operations_is_passed) {
  for (int i = 1; i <= 1500; ++i) directory_.add({milliseconds(i), i, {{"type", "other"}}});
  directory_.add({3s, 1501});
  read_all();
  EXPECT_EQ(applied_.size(), 1U);
}

TEST_F(ExportPagesTest, what_was_not_requested_is_not_applied) {
  cursor_.newest = kExportStart + 1min;
  const std::string old = Made{1s, 1}.line();
  ExportPage page = read(old + '\n' + Made{61s, 2}.line());
  EXPECT_EQ(page.applied, 1U);
  EXPECT_EQ(dropped(page, ExportDrop::NotRequested), 1U);
  EXPECT_TRUE(page.is_end);
  // A directory that does not know `after`.
  page = read(old);
  EXPECT_TRUE(page.is_stuck);
  EXPECT_FALSE(page.is_end);
}

TEST_F(ExportPagesTest, a_page_that_does_not_lead_on_is_stuck_and_not_current) {
  // The same full page for each request.
  std::string body;
  for (int i = 0; i < 1000; ++i) body += Made{1s, i}.line() + '\n';
  EXPECT_FALSE(read(body).is_stuck);
  for (const bool is_stuck : {false, false, true, true}) {
    const ExportPage page = read(body);
    EXPECT_EQ(page.is_stuck, is_stuck);
    EXPECT_FALSE(page.is_end);
    EXPECT_EQ(page.applied, 0U);
  }
  EXPECT_EQ(cursor_.newest, kExportStart + 1s);
  EXPECT_EQ(cursor_.current_at, kExportStart + 1s);
  // A page of a proxy.
  pages_ = ExportPages();
  const ExportPage page = read("<html>\n<body>\n");
  EXPECT_TRUE(page.is_stuck);
  EXPECT_EQ(cursor_.current_at, kExportStart + 1s);
}

TEST_F(ExportPagesTest, an_empty_page_is_the_end) {
  const ExportPage page = read("");
  EXPECT_TRUE(page.is_end);
  EXPECT_EQ(cursor_.current_at, kNow);
  EXPECT_EQ(cursor_.newest, kExportStart);
}

TEST_F(ExportPagesTest, the_cursor_has_a_bounded_number_of_cids) {
  for (int page = 0; page < 3; ++page) {
    std::string body;
    for (int i = 0; i < 1000; ++i)
      body += Made{milliseconds(page + 1), 1000 * page + i}.line() + '\n';
    read(body);
  }
  EXPECT_EQ(cursor_.cids.size(), ExportPages::kMaxCids);
}

TEST(ExportUrl, is_that_of_the_directory) {
  const auto url = [](const char* of, Timestamp after) {
    return export_url(*transport::parse_http_url(of), after);
  };
  EXPECT_EQ(url("https://plc.example", {}), "https://plc.example/export?count=1000");
  EXPECT_EQ(url("http://127.0.0.1:8/export", kExportStart),
            "http://127.0.0.1:8/export?count=1000&after=2023-11-14T22:13:20.000000Z");
}

}  // namespace
}  // namespace skua::documents::export_page_test
