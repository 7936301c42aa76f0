#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "support/made_events.hpp"
#include "writer/row_writer.hpp"

namespace skua::writer::fold_test {
namespace {

event::ResolvedEvent change(AccountNumber actor, std::int64_t rkey, std::uint64_t rev,
                            event::Operation operation = event::Operation::Create,
                            std::int32_t collection = 1) {
  event::ResolvedEvent event;
  event.actor_id = actor;
  event.collection_id = collection;
  event.rkey_number = rkey;
  event::RecordChange body;
  body.operation = operation;
  body.rev = {rev};
  event.event.body = std::move(body);
  return event;
}

using Indices = std::vector<std::size_t>;

TEST(FoldBatch, keeps_the_newest_rev_of_each_record) {
  std::vector<event::ResolvedEvent> batch;
  batch.push_back(change(1, 10, 5));
  batch.push_back(change(1, 10, 7, event::Operation::Delete));
  batch.push_back(change(1, 10, 6, event::Operation::Update));
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).survivors, Indices{1});
}

TEST(FoldBatch, of_equal_revs_the_later_one_stays) {
  std::vector<event::ResolvedEvent> batch;
  batch.push_back(change(1, 10, 5));
  batch.push_back(change(1, 10, 5));
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).survivors, Indices{1});
}

TEST(FoldBatch, a_delete_that_a_write_overtakes_keeps_its_tombstone) {
  using event::Operation;
  std::vector<event::ResolvedEvent> batch;
  batch.push_back(change(1, 10, 5));
  batch.push_back(change(1, 10, 6, Operation::Delete));
  batch.push_back(change(1, 10, 7));
  batch.push_back(change(1, 10, 8, Operation::Delete));
  batch.push_back(change(1, 10, 9));
  batch.push_back(change(2, 10, 5));
  batch.push_back(change(2, 10, 6, Operation::Delete));
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).survivors, (Indices{4, 6}));
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).overtaken_deletes, Indices{3});
}

TEST(FoldBatch, actor_collection_and_rkey_make_the_key) {
  std::vector<event::ResolvedEvent> batch;
  batch.push_back(change(1, 10, 5));
  batch.push_back(change(2, 10, 5));
  batch.push_back(change(1, 11, 5));
  batch.push_back(change(1, 10, 5, event::Operation::Create, 2));
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).survivors, (Indices{0, 1, 2, 3}));
}

TEST(FoldBatch, leaves_all_that_is_no_record_change) {
  std::vector<event::ResolvedEvent> batch(3);
  batch[0].event.body = event::IdentityChange{};
  batch[1].event.body = event::AccountChange{};
  batch[2].event.body = event::Rejection{};
  EXPECT_EQ(fold_batch(test::pointers_to(batch)).survivors, (Indices{0, 1, 2}));
}

/// Applying what is left gives what applying everything under the rev guard gives.
class FoldProperty : public testing::TestWithParam<unsigned> {};

TEST_P(FoldProperty, leaves_the_effect_of_applying_all) {
  std::mt19937 random(GetParam());
  const auto below = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  std::vector<event::ResolvedEvent> batch;
  for (int i = 0; i < 200; ++i) {
    batch.push_back(change(1 + below(3), below(4), static_cast<std::uint64_t>(1 + below(50)),
                           static_cast<event::Operation>(below(3))));
  }
  struct Row {
    std::uint64_t rev;
  };
  using Table = std::map<std::pair<std::int32_t, std::int64_t>, Row>;
  const auto apply = [](Table& table, const event::ResolvedEvent& event) {
    Row& row = table[{event.actor_id, event.rkey_number}];
    row.rev = std::max(row.rev, event.change().rev.value);
  };
  Table all;
  for (const auto& event : batch) apply(all, event);
  Table folded;
  for (const std::size_t i : fold_batch(test::pointers_to(batch)).survivors) {
    Table::key_type key{batch[i].actor_id, batch[i].rkey_number};
    EXPECT_FALSE(folded.contains(key)) << "one event a record";
    apply(folded, batch[i]);
  }
  ASSERT_EQ(all.size(), folded.size());
  for (const auto& [key, row] : all) EXPECT_EQ(folded[key].rev, row.rev);
}

INSTANTIATE_TEST_SUITE_P(seeds, FoldProperty, testing::Range(1U, 9U));

}  // namespace
}  // namespace skua::writer::fold_test
