// What a commit carries must be enough to check its operations and to undo them: the tree after a
// change, cut down to the proofs of the keys that changed, leads back to the root before it
// (atproto.com/specs/sync#commit-validation-mst-operation-inversion).

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"
#include "support/json_vectors.hpp"

namespace skua::repo::commit_inversion_test {
namespace {

using atproto::Cid;
using test::JsonVector;
using test_cases::Entries;

/// A change of one key: no old value means that it was created, no new one that it was deleted.
struct Operation {
  std::string key;
  std::optional<Cid> old_value;
  std::optional<Cid> new_value;
};

/// Does an operation or undoes it: what must stand under the key before, and what then will.
testing::AssertionResult replace(MstTree& tree, const std::string& key,
                                 const std::optional<Cid>& before,
                                 const std::optional<Cid>& after) {
  const auto replaced = after ? tree.set(key, *after) : tree.remove(key);
  if (!replaced) return testing::AssertionFailure() << key << ": " << replaced.error().message();
  if (*replaced != before) return testing::AssertionFailure() << key << " had another value";
  return testing::AssertionSuccess();
}

testing::AssertionResult apply(MstTree& tree, const Operation& operation) {
  return replace(tree, operation.key, operation.old_value, operation.new_value);
}

/// Undoes operations from the last to the first.
testing::AssertionResult undo(MstTree& tree, std::span<const Operation> operations) {
  for (std::size_t i = operations.size(); i-- > 0;) {
    const auto& [key, old_value, new_value] = operations[i];
    const auto undone = replace(tree, key, new_value, old_value);
    if (!undone) return undone;
  }
  return testing::AssertionSuccess();
}

/// The blocks that a commit with these operations carries.
OwnedBlocks proof_of(MstTree& tree, std::span<const Operation> operations) {
  OwnedBlocks proof;
  for (const Operation& operation : operations) {
    const auto added = tree.add_proof(operation.key, proof);
    EXPECT_TRUE(added) << operation.key << ": " << added.error().message();
  }
  return proof;
}

class InteropCommitProof : public testing::TestWithParam<JsonVector> {
 protected:
  std::vector<std::string> texts(const char* field) const {
    return GetParam().entry.at(field).get<std::vector<std::string>>();
  }
  Cid leaf() const { return *Cid::parse(GetParam().text("leafValue")); }
  MstTree tree_before() const {
    std::map<std::string, Cid> sorted;
    for (const std::string& key : texts("keys")) sorted.emplace(key, leaf());
    return MstTree::build(Entries(sorted.begin(), sorted.end()));
  }
  std::vector<Operation> operations() const {
    std::vector<Operation> operations;
    for (const std::string& key : texts("adds")) operations.push_back({key, {}, leaf()});
    for (const std::string& key : texts("dels")) operations.push_back({key, leaf(), {}});
    return operations;
  }
};

TEST_P(InteropCommitProof, has_its_roots_and_blocks) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  MstTree tree = tree_before();
  EXPECT_EQ(tree.root().to_string(), GetParam().text("rootBeforeCommit"));
  const auto operations = this->operations();
  for (const Operation& operation : operations) ASSERT_TRUE(apply(tree, operation));
  EXPECT_EQ(tree.root().to_string(), GetParam().text("rootAfterCommit"));

  const auto listed = texts("blocksInProof");
  std::set<std::string> proof;
  for (const auto& [cid, block] : proof_of(tree, operations)) proof.insert(cid.to_string());
  EXPECT_EQ(proof, std::set<std::string>(listed.begin(), listed.end()));
}

TEST_P(InteropCommitProof, is_undone_with_its_blocks_alone) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  MstTree tree = tree_before();
  const auto operations = this->operations();
  for (const Operation& operation : operations) ASSERT_TRUE(apply(tree, operation));
  const OwnedBlocks whole = tree.blocks();
  OwnedBlocks listed;
  for (const std::string& cid : texts("blocksInProof")) {
    const auto block = whole.find(*Cid::parse(cid));
    ASSERT_NE(block, whole.end()) << cid;
    listed.insert(*block);
  }

  const BlockMap blocks = test_cases::view_of(listed);
  auto partial = MstTree::open(*Cid::parse(GetParam().text("rootAfterCommit")), blocks);
  ASSERT_TRUE(partial) << partial.error().message();
  for (const Operation& operation : operations) {
    const auto found = partial->get(operation.key);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(*found, operation.new_value);
  }
  ASSERT_TRUE(undo(*partial, operations));
  EXPECT_EQ(partial->root().to_string(), GetParam().text("rootBeforeCommit"));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, InteropCommitProof,
                         testing::ValuesIn(test::shared_entries(
                             "interop/firehose/commit-proof-fixtures.json", "comment")),
                         test::NameOfEntry());

/// A repository that changes at random, all of it from one seed.
class RandomRepository {
 public:
  explicit RandomRepository(std::uint32_t seed) : random_(seed) {
    // Small trees have the odd shapes, large ones the deep paths.
    constexpr std::array kSizes = {2U, 4U, 12U, 12U, 60U, 600U};
    const auto size = below(kSizes[below(kSizes.size())]);
    while (entries_.size() < size) entries_.emplace(new_key(), new_value());
    tree_ = MstTree::build(Entries(entries_.begin(), entries_.end()));
  }

  MstTree& tree() { return tree_; }
  /// The root by another way: of the entries alone.
  Cid expected_root() const {
    return MstTree::build(Entries(entries_.begin(), entries_.end())).root();
  }

  /// Creates, updates and deletes; also several times under one key.
  std::vector<Operation> commit() {
    std::vector<Operation> operations;
    for (auto count = 1 + below(12); count > 0; --count) {
      const bool again = !operations.empty() && below(6) == 0;
      Operation operation;
      operation.key = again ? operations[below(operations.size())].key : some_key();
      const auto known = entries_.find(operation.key);
      if (known != entries_.end()) operation.old_value = known->second;
      if (!operation.old_value || below(2) == 0) operation.new_value = new_value();
      EXPECT_TRUE(apply(tree_, operation));
      if (operation.new_value) {
        entries_[operation.key] = *operation.new_value;
      } else {
        entries_.erase(operation.key);
      }
      operations.push_back(std::move(operation));
    }
    return operations;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }
  Cid new_value() { return Cid::of(as_bytes(std::to_string(random_()))); }

 private:
  static constexpr int kDepths = 6;

  /// Keys of each depth: of random ones, three in four would have depth 0.
  static const std::array<std::vector<std::string>, kDepths>& keys_by_depth() {
    static const auto keys = [] {
      std::array<std::vector<std::string>, kDepths> sorted;
      for (std::uint32_t number = 0; number < 20'000; ++number) {
        std::string key = test_cases::path_of(number);
        const int depth = mst_key_depth(key);
        if (depth < kDepths) sorted[static_cast<std::size_t>(depth)].push_back(std::move(key));
      }
      return sorted;
    }();
    return keys;
  }

  std::string new_key() {
    if (below(2) == 0) return test_cases::path_of(static_cast<std::uint32_t>(random_()));
    const auto& keys = keys_by_depth()[below(kDepths)];
    return keys[below(keys.size())];
  }

  std::string some_key() {
    if (entries_.empty() || below(2) == 0) return new_key();
    const auto from = entries_.lower_bound(new_key());
    return from == entries_.end() ? entries_.begin()->first : from->first;
  }

  std::mt19937 random_;
  std::map<std::string, Cid> entries_;
  MstTree tree_;
};

/// The numbers of the seeds; more of them when SKUA_LONG=1.
std::uint32_t seeds() {
  const char* is_long = std::getenv("SKUA_LONG");
  return is_long != nullptr && std::string_view(is_long) == "1" ? 5000 : 300;
}

class RandomCommits : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomCommits, are_undone_with_their_proofs_alone) {
  RandomRepository repository(GetParam());
  for (int commit = 0; commit < 5; ++commit) {
    SCOPED_TRACE(testing::Message() << "seed " << GetParam() << ", commit " << commit);
    const Cid before = repository.tree().root();
    const auto operations = repository.commit();
    const Cid after = repository.tree().root();
    ASSERT_EQ(after, repository.expected_root());

    const OwnedBlocks proof = proof_of(repository.tree(), operations);
    const BlockMap blocks = test_cases::view_of(proof);
    auto partial = MstTree::open(after, blocks);
    ASSERT_TRUE(partial) << partial.error().message();
    std::map<std::string, std::optional<Cid>> last;
    for (const Operation& operation : operations) last[operation.key] = operation.new_value;
    for (const auto& [key, value] : last) {
      const auto found = partial->get(key);
      ASSERT_TRUE(found) << key << ": " << found.error().message();
      ASSERT_EQ(*found, value) << key;
    }
    ASSERT_TRUE(undo(*partial, operations));
    ASSERT_EQ(partial->root(), before);
  }
}

TEST_P(RandomCommits, that_lie_are_found_out) {
  RandomRepository repository(GetParam());
  SCOPED_TRACE(testing::Message() << "seed " << GetParam());
  const Cid before = repository.tree().root();
  const auto operations = repository.commit();
  const OwnedBlocks proof = proof_of(repository.tree(), operations);
  const BlockMap blocks = test_cases::view_of(proof);

  const auto undone_root = [&](std::span<const Operation> told) -> std::optional<Cid> {
    auto partial = MstTree::open(repository.tree().root(), blocks);
    EXPECT_TRUE(partial) << partial.error().message();
    if (!partial || !undo(*partial, told)) return std::nullopt;
    return partial->root();
  };
  ASSERT_EQ(undone_root(operations), before);

  // The first operation under a key says what stood there before the commit.
  auto another_past = operations;
  another_past.front().old_value = repository.new_value();
  EXPECT_NE(undone_root(another_past), before);

  // A key that is not told of at all, unless it is again what it was.
  auto untold = operations;
  const auto key = untold.front().key;
  const bool changed = untold.front().old_value != repository.tree().get(key).value();
  std::erase_if(untold, [&](const Operation& operation) { return operation.key == key; });
  EXPECT_EQ(undone_root(untold) == before, !changed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCommits, testing::Range(std::uint32_t{0}, seeds()),
                         [](const auto& test) { return "seed_" + std::to_string(test.param); });

}  // namespace
}  // namespace skua::repo::commit_inversion_test
