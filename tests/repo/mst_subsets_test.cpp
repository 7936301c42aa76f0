// Trees of every subset of a few keys: trees of CARs of the test data, and trees that the test
// builds.

#include <array>
#include <bit>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "repo/car.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::mst_subsets_test {
namespace {

using atproto::Cid;
using test_cases::Entries;

constexpr unsigned kKeys = 7;
constexpr unsigned kSubsets = 1U << kKeys;

/// The entries that the bits of `subset` choose.
Entries chosen(const Entries& all, unsigned subset) {
  Entries entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((subset >> i & 1U) != 0) entries.push_back(all[i]);
  }
  return entries;
}

/// Reads a tree that is whole.
Entries read_tree(const Cid& root, const BlockMap& blocks) {
  Entries entries;
  const auto walked = walk_mst(root, blocks, [&](std::string_view key, const Cid& value) {
    entries.emplace_back(key, value);
  });
  EXPECT_TRUE(walked) << walked.error().message();
  if (walked) {
    EXPECT_EQ(walked->missing_nodes, 0U);
    EXPECT_EQ(walked->nodes, blocks.size());
  }
  return entries;
}

/// Expects that all ways to the tree of these entries lead to `root`.
void expect_root(const Entries& entries, const Entries& others, const Cid& root) {
  EXPECT_EQ(build_mst(entries).root, root);

  MstTree grown;
  for (std::size_t i = entries.size(); i-- > 0;) {
    ASSERT_TRUE(grown.set(entries[i].first, entries[i].second));
  }
  EXPECT_EQ(grown.root(), root);

  for (const auto& [key, value] : others) ASSERT_EQ(*grown.set(key, value), std::nullopt);
  for (const auto& [key, value] : others) ASSERT_EQ(*grown.remove(key), value);
  EXPECT_EQ(grown.root(), root);
}

/// A CAR that holds the tree of a subset, by the subset's number.
class ExhaustiveCar {
 public:
  explicit ExhaustiveCar(unsigned subset) : bytes_(test::read_file(path_of(subset))) {
    const auto read = load_car(bytes_, loaded_);
    EXPECT_TRUE(read) << read.error().message();
  }
  const LoadedCar& loaded() const { return loaded_; }
  Entries entries() const { return read_tree(loaded_.roots.at(0), loaded_.blocks); }

  static std::string name_of(unsigned subset) {
    std::string number = std::to_string(subset);
    return "exhaustive_" + std::string(3 - number.size(), '0') + number;
  }

 private:
  static std::filesystem::path path_of(unsigned subset) {
    return *test::shared_dir() / "data/mst/cars/exhaustive" / (name_of(subset) + ".car");
  }
  const Bytes bytes_;
  LoadedCar loaded_;
};

class ExhaustiveTree : public testing::TestWithParam<unsigned> {};

TEST_P(ExhaustiveTree, is_read_and_rebuilt) {
  SKUA_NEED_SHARED();
  static const Entries all = ExhaustiveCar(kSubsets - 1).entries();
  ASSERT_EQ(all.size(), kKeys);
  const ExhaustiveCar car(GetParam());
  ASSERT_EQ(car.loaded().roots.size(), 1U);
  const Cid root = car.loaded().roots[0];
  const Entries entries = car.entries();
  EXPECT_EQ(entries, chosen(all, GetParam()));
  expect_root(entries, chosen(all, ~GetParam()), root);

  const BuiltMst built = build_mst(entries);
  for (const auto& [cid, block] : built.blocks) {
    EXPECT_TRUE(car.loaded().blocks.contains(cid.digest)) << cid.to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Cars, ExhaustiveTree, testing::Range(0U, kSubsets),
                         [](const auto& test) { return ExhaustiveCar::name_of(test.param); });

/// Seven keys in order, of these depths.
Entries entries_of_depths(const std::array<int, kKeys>& depths) {
  Entries entries;
  for (std::uint32_t number = 1; entries.size() < depths.size(); ++number) {
    // In key order: the letters of TIDs stand in the order of their values.
    const std::string key = test_cases::path_of(number * 3);
    if (mst_key_depth(key) == depths[entries.size()])
      entries.emplace_back(key, Cid::of(as_bytes(key)));
  }
  return entries;
}

TEST(OwnSubsets, all_ways_lead_to_one_tree) {
  for (const auto& depths : {std::array{0, 0, 0, 0, 0, 0, 0}, std::array{0, 1, 0, 2, 0, 1, 0},
                             std::array{3, 0, 0, 4, 0, 1, 2}, std::array{0, 4, 0, 0, 0, 4, 0},
                             std::array{4, 3, 2, 1, 0, 1, 0}}) {
    const Entries all = entries_of_depths(depths);
    for (unsigned subset = 0; subset < kSubsets; ++subset) {
      SCOPED_TRACE(testing::Message()
                   << "subset " << subset << " of depths " << testing::PrintToString(depths));
      const Entries entries = chosen(all, subset);
      const BuiltMst built = build_mst(entries);
      EXPECT_EQ(read_tree(built.root, test_cases::view_of(built.blocks)), entries);
      expect_root(entries, chosen(all, ~subset), built.root);
    }
  }
}

}  // namespace
}  // namespace skua::repo::mst_subsets_test
