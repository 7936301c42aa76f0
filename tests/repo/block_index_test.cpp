#include "repo/block_index.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "repo/car.hpp"
#include "repo/errc.hpp"

namespace skua::repo::block_index_test {
namespace {

using atproto::Cid;

std::string content(std::size_t number) {
  return "block " + std::to_string(number);
}

/// `count` different blocks, each of them `copies` times.
Bytes car_of(std::size_t count, std::size_t copies = 1) {
  Bytes car;
  CarWriter writer(car, std::array{Cid::of(as_bytes("root"))});
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (std::size_t i = 0; i < count; ++i) writer.block(as_bytes(content(i)));
  }
  return car;
}

/// How many bits of the digests are compared before the CAR is asked: with fewer, more agree.
class BlockIndexOfBits : public testing::TestWithParam<unsigned> {};

TEST_P(BlockIndexOfBits, finds_each_block_and_no_other) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 3000U}) {
    const Bytes car = car_of(count);
    const auto index = BlockIndex::build(car, GetParam());
    ASSERT_TRUE(index) << index.error().message();
    EXPECT_EQ(index->size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t section = index->find(Cid::of(as_bytes(content(i))).digest);
      ASSERT_NE(section, BlockIndex::kMissing) << i;
      EXPECT_EQ(as_text(car_block_at(car, section).data), content(i));
    }
    for (std::size_t i = count; i < count + 300; ++i) {
      EXPECT_EQ(index->find(Cid::of(as_bytes(content(i))).digest), BlockIndex::kMissing) << i;
    }
  }
}

TEST_P(BlockIndexOfBits, finds_many_as_it_finds_one) {
  const Bytes car = car_of(500);
  const auto index = BlockIndex::build(car, GetParam());
  ASSERT_TRUE(index);
  std::vector<atproto::Digest> digests;
  for (std::size_t i = 0; i < 1000; ++i) digests.push_back(Cid::of(as_bytes(content(i))).digest);
  std::vector<std::size_t> sections(digests.size());
  index->find(digests, sections);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    EXPECT_EQ(sections[i], index->find(digests[i]));
    EXPECT_EQ(sections[i] == BlockIndex::kMissing, i >= 500);
  }
}

TEST_P(BlockIndexOfBits, finds_one_of_several_copies) {
  const Bytes car = car_of(30, 3);
  const auto index = BlockIndex::build(car, GetParam());
  ASSERT_TRUE(index);
  EXPECT_EQ(index->size(), 90U);
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t section = index->find(Cid::of(as_bytes(content(i))).digest);
    ASSERT_NE(section, BlockIndex::kMissing) << i;
    EXPECT_EQ(as_text(car_block_at(car, section).data), content(i));
  }
}

TEST_P(BlockIndexOfBits, takes_a_few_duplicates_only) {
  constexpr std::size_t kFew = BlockIndex::kDuplicatesAllowed;
  EXPECT_TRUE(BlockIndex::build(car_of(1, kFew), GetParam()));
  EXPECT_EQ(BlockIndex::build(car_of(1, kFew + 100), GetParam()).error(),
            make_error_code(errc::car_duplicates));
  EXPECT_EQ(BlockIndex::build(car_of(1'000, 3), GetParam()).error(),
            make_error_code(errc::car_duplicates));
  // Further apart than it remembers while it reads.
  EXPECT_EQ(BlockIndex::build(car_of(20'000, 2), GetParam()).error(),
            make_error_code(errc::car_duplicates));
}

// A digest that no block has, but whose bits that are compared first a block has.
TEST_P(BlockIndexOfBits, is_not_taken_in_by_likeness) {
  const Bytes car = car_of(100);
  const auto index = BlockIndex::build(car, GetParam());
  ASSERT_TRUE(index);
  for (std::size_t i = 0; i < 100; ++i) {
    for (const std::size_t byte : {8U, 31U}) {
      for (const unsigned change : {0x01U, 0x80U, 0xffU}) {
        atproto::Digest digest = Cid::of(as_bytes(content(i))).digest;
        digest[byte] ^= static_cast<std::uint8_t>(change);
        EXPECT_EQ(index->find(digest), BlockIndex::kMissing);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, BlockIndexOfBits, testing::Values(0U, 1U, 5U, 12U, 64U),
                         testing::PrintToStringParamName());

TEST(BlockIndex, compares_hashes) {
  Bytes car;
  CarWriter writer(car, std::array{Cid::of(as_bytes("root"))});
  writer.block(as_bytes("first"));
  writer.block(Cid::of(as_bytes("second")), as_bytes("another"));
  const auto index = BlockIndex::build(car);
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error(), errc::car_hash_mismatch) << index.error().message();
}

}  // namespace
}  // namespace skua::repo::block_index_test
