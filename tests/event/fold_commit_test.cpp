#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "event/frame_decoder.hpp"

namespace skua::event::fold_commit_test {
namespace {

UnresolvedEvent op(Operation operation, std::string rkey, std::uint8_t content = 0,
                   std::string collection = "a.b.c") {
  RecordChange change;
  change.operation = operation;
  change.collection = std::move(collection);
  change.rkey = std::move(rkey);
  if (operation != Operation::Delete) change.block = {content};
  UnresolvedEvent event;
  event.body = std::move(change);
  return event;
}

struct Step {
  std::string name;
  std::vector<Operation> ops;
  Operation folded;
};

class FoldedPath : public testing::TestWithParam<Step> {};

constexpr auto C = Operation::Create;
constexpr auto U = Operation::Update;
constexpr auto D = Operation::Delete;

INSTANTIATE_TEST_SUITE_P(
    Paths, FoldedPath,
    testing::Values(Step{"create", {C}, C}, Step{"update", {U}, U}, Step{"remove", {D}, D},
                    Step{"delete_create", {D, C}, U}, Step{"delete_create_update", {D, C, U}, U},
                    Step{"delete_create_delete", {D, C, D}, D}, Step{"create_update", {C, U}, C},
                    Step{"create_delete", {C, D}, D}, Step{"create_delete_create", {C, D, C}, C},
                    Step{"update_update", {U, U}, U}, Step{"update_delete", {U, D}, D},
                    Step{"update_delete_create", {U, D, C}, U}),
    [](const auto& test) { return test.param.name; });

TEST_P(FoldedPath, has_its_last_effect) {
  const Step& step = GetParam();
  std::vector<UnresolvedEvent> events;
  for (std::size_t i = 0; i < step.ops.size(); ++i) {
    events.push_back(op(step.ops[i], "x", static_cast<std::uint8_t>(i)));
  }
  fold_commit(events);
  ASSERT_EQ(events.size(), 1U);
  const auto& change = std::get<RecordChange>(events[0].body);
  EXPECT_EQ(change.operation, step.folded);
  if (step.folded != D) {
    EXPECT_EQ(change.block, Bytes{static_cast<std::uint8_t>(step.ops.size() - 1)});
  }
}

TEST(FoldCommitTest, leaves_all_else_in_its_place) {
  std::vector<UnresolvedEvent> events;
  events.push_back(op(C, "x", 1));
  events.emplace_back().body = Rejection{"a.b.c/x", "bad", {}};
  events.push_back(op(C, "x", 2, "a.b.d"));
  events.emplace_back().body = AccountChange{};
  events.push_back(op(U, "x", 3));
  fold_commit(events);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_TRUE(std::holds_alternative<Rejection>(events[0].body));
  EXPECT_EQ(std::get<RecordChange>(events[1].body).collection, "a.b.d");
  EXPECT_TRUE(std::holds_alternative<AccountChange>(events[2].body));
  EXPECT_EQ(std::get<RecordChange>(events[3].body).block, Bytes{3});
  EXPECT_EQ(std::get<RecordChange>(events[3].body).operation, C);
}

TEST(FoldCommitTest, empty_stays_empty) {
  std::vector<UnresolvedEvent> events;
  fold_commit(events);
  EXPECT_TRUE(events.empty());
}

/// A repository as a map, the naive model.
using Model = std::map<std::string, std::uint8_t>;

void apply_ops(const std::vector<UnresolvedEvent>& events, Model& model) {
  for (const auto& event : events) {
    const auto& change = std::get<RecordChange>(event.body);
    if (change.operation == D) {
      model.erase(change.rkey);
    } else {
      model[change.rkey] = change.block.at(0);
    }
  }
}

TEST(FoldCommitTest, leaves_the_repository_that_the_ops_leave) {
  std::mt19937 random(20260704);
  for (int round = 0; round < 2'000; ++round) {
    Model before;
    for (const char* key : {"a", "b", "c", "d"}) {
      if (random() % 2 == 0) before[key] = 200;
    }
    // Ops that are legal one after the other.
    Model model = before;
    std::vector<UnresolvedEvent> events;
    const std::size_t count = random() % 14;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string key(1, static_cast<char>('a' + random() % 4));
      const auto content = static_cast<std::uint8_t>(i);
      const Operation operation = model.count(key) == 0 ? C : (random() % 2 == 0 ? U : D);
      events.push_back(op(operation, key, content));
      if (operation == D) {
        model.erase(key);
      } else {
        model[key] = content;
      }
    }
    fold_commit(events);

    Model folded = before;
    apply_ops(events, folded);
    EXPECT_EQ(folded, model);
    std::map<std::string, int> times;
    for (const auto& event : events) {
      const auto& change = std::get<RecordChange>(event.body);
      EXPECT_EQ(++times[change.rkey], 1);
      // Create and update say whether the key was there before the commit.
      if (change.operation != D) {
        EXPECT_EQ(change.operation == U, before.count(change.rkey) == 1);
      }
    }
  }
}

}  // namespace
}  // namespace skua::event::fold_commit_test
