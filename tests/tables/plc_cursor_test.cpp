#include <optional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"
#include "tables/cursor_store.hpp"

namespace skua::tables::plc_cursor_test {
namespace {

using testing::UnorderedElementsAre;

Timestamp at(int second) {
  return Timestamp(std::chrono::seconds(1'767'323'045 + second));
}

class PlcCursorTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(PlcCursorTest, keeps_all_of_it) {
  EXPECT_FALSE(load_plc_cursor(session()));
  EXPECT_TRUE(begin_plc_cursor(session(), {.since = at(1), .newest = at(1), .current_at = at(2)}));
  EXPECT_FALSE(begin_plc_cursor(session(), {.newest = at(9), .current_at = at(9)}));
  const auto first = load_plc_cursor(session());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->since, at(1));
  EXPECT_EQ(first->newest, at(1));
  EXPECT_EQ(first->current_at, at(2));
  EXPECT_TRUE(first->cids.empty());
  const PlcCursor next{
      .since = at(1), .newest = at(3), .cids = {"bafya", "bafyb"}, .current_at = at(4)};
  EXPECT_TRUE(advance_plc_cursor(session(), *first, next));
  const auto second = load_plc_cursor(session());
  EXPECT_EQ(second->newest, at(3));
  EXPECT_THAT(second->cids, UnorderedElementsAre("bafya", "bafyb"));
}

TEST_F(PlcCursorTest, does_not_advance_what_another_session_has_changed) {
  const PlcCursor first{.since = at(1), .newest = at(1), .current_at = at(1)};
  PlcCursor next = first;
  next.newest = at(5);
  EXPECT_FALSE(advance_plc_cursor(session(), first, next));
  begin_plc_cursor(session(), first);
  add_to_plc_cursor(session(), std::nullopt, at(3));
  EXPECT_FALSE(advance_plc_cursor(session(), first, next));
  EXPECT_EQ(load_plc_cursor(session())->newest, at(3));
}

TEST_F(PlcCursorTest, is_gone_with_the_transaction_of_its_rows) {
  const PlcCursor first{.newest = at(1), .current_at = at(1)};
  begin_plc_cursor(session(), first);
  {
    postgres::Transaction transaction(session());
    EXPECT_TRUE(advance_plc_cursor(session(), first, {.newest = at(2), .current_at = at(2)}));
  }
  EXPECT_EQ(load_plc_cursor(session())->newest, at(1));
}

/// What the stored identities contain: after `since` (0: everything) up to `newest`.
struct Part {
  int since;
  int newest;

  friend bool operator==(const Part&, const Part&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Part& part) {
    return out << part.since << " to " << part.newest;
  }
};

struct Import {
  const char* name;
  std::optional<Part> before;
  Part imported;
  Part after;
};

class PlcCursorImportTest : public PlcCursorTest, public testing::WithParamInterface<Import> {};

TEST_P(PlcCursorImportTest, covers_what_is_applied_without_a_gap) {
  const auto since_of = [](int second) {
    return second == 0 ? std::nullopt : std::optional(at(second));
  };
  if (const auto& before = GetParam().before) {
    begin_plc_cursor(session(), {.since = since_of(before->since),
                                 .newest = at(before->newest),
                                 .current_at = at(before->newest)});
  }
  const Part& imported = GetParam().imported;
  add_to_plc_cursor(session(), since_of(imported.since), at(imported.newest));
  const auto cursor = load_plc_cursor(session());
  ASSERT_TRUE(cursor);
  const Part& after = GetParam().after;
  EXPECT_EQ(cursor->since, since_of(after.since));
  EXPECT_EQ(cursor->newest, at(after.newest));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlcCursorImportTest,
    testing::Values(Import{"first", std::nullopt, {0, 5}, {0, 5}},
                    Import{"first_part", std::nullopt, {3, 5}, {3, 5}},
                    Import{"newer", Part{0, 5}, {0, 9}, {0, 9}},
                    Import{"older", Part{0, 5}, {0, 3}, {0, 5}},
                    Import{"continued", Part{0, 5}, {5, 9}, {0, 9}},
                    Import{"behind_a_gap", Part{0, 5}, {6, 9}, {0, 5}},
                    // A tail began without an import.
                    Import{"ends_before_the_tail_began", Part{5, 8}, {0, 4}, {0, 4}},
                    Import{"reaches_the_tail", Part{5, 8}, {0, 6}, {0, 8}},
                    Import{"passes_the_tail", Part{5, 8}, {0, 9}, {0, 9}},
                    Import{"part_before_the_tail", Part{5, 8}, {2, 4}, {2, 4}},
                    Import{"part_that_reaches_the_tail", Part{5, 8}, {2, 6}, {2, 8}},
                    Import{"part_within_the_tail", Part{5, 8}, {6, 7}, {5, 8}},
                    Import{"part_that_continues_the_tail", Part{5, 8}, {6, 9}, {5, 9}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace skua::tables::plc_cursor_test
