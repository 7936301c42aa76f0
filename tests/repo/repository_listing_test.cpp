#include "repo/repository_listing.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "repo/car.hpp"
#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::repository_listing_test {
namespace {

using atproto::Cid;
using test_cases::Entries;
using Extent = RepositoryListing::Extent;

std::vector<CarBlock> blocks_of(ByteView car) {
  std::vector<CarBlock> blocks;
  auto reader = CarReader::open(car);
  for (auto block = reader->next(); block && *block; block = reader->next()) {
    blocks.push_back(**block);
  }
  return blocks;
}

/// A CAR with the root of another and these blocks.
Bytes car_with(ByteView original, const std::vector<CarBlock>& blocks) {
  Bytes car;
  CarWriter writer(car, CarReader::open(original)->roots());
  for (const CarBlock& block : blocks) writer.block(block.cid, block.data);
  return car;
}

Bytes without(ByteView car, const std::set<Cid>& left_out) {
  std::vector<CarBlock> blocks = blocks_of(car);
  std::erase_if(blocks, [&](const CarBlock& block) { return left_out.contains(block.cid); });
  return car_with(car, blocks);
}

/// What the reading of frames finds in the same CAR.
Entries walked(const Repository& repository) {
  Entries entries;
  const auto walk =
      walk_mst(repository.commit.data, repository.car.blocks,
               [&](std::string_view key, const Cid& value) { entries.emplace_back(key, value); });
  EXPECT_TRUE(walk) << walk.error().message();
  return entries;
}

/// Expects that a CAR is listed, and as the reading of frames has it.
void expect_as_walked(ByteView car, Extent extent = Extent::Whole) {
  const auto listing = RepositoryListing::open(car, extent);
  ASSERT_TRUE(listing) << listing.error().message();
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  EXPECT_EQ(listing->commit().did, repository->commit.did);
  EXPECT_EQ(listing->commit().rev, repository->commit.rev);
  EXPECT_EQ(listing->commit().data, repository->commit.data);
  const Entries entries = walked(*repository);
  ASSERT_EQ(listing->size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ListedRecord record = listing->at(i);
    EXPECT_EQ(record.path, entries[i].first);
    EXPECT_EQ(record.cid, entries[i].second);
    EXPECT_EQ(record.block.data(), repository->car.blocks.at(record.cid.digest).data());
    EXPECT_FALSE(listing->has_gap_before(i));
  }
  EXPECT_FALSE(listing->has_gap_before(listing->size()));
}

void expect_error(ByteView car, errc error, Extent extent = Extent::Whole) {
  const auto listing = RepositoryListing::open(car, extent);
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error(), error) << listing.error().message();
}

class MadeListing : public testing::TestWithParam<std::size_t> {};

TEST_P(MadeListing, is_what_the_tree_holds) {
  const Bytes car = test_cases::made_repository(1, GetParam());
  expect_as_walked(car);
  expect_as_walked(car, Extent::Since);
}

TEST_P(MadeListing, is_the_same_in_whatever_order_blocks_lie) {
  const Bytes car = test_cases::made_repository(1, GetParam());
  std::vector<CarBlock> blocks = blocks_of(car);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  expect_as_walked(car_with(car, blocks));
}

INSTANTIATE_TEST_SUITE_P(Records, MadeListing,
                         testing::Values(0U, 1U, 2U, 50U, 255U, 256U, 257U, 512U, 2000U),
                         testing::PrintToStringParamName());

/// The CARs of two folders, named by file; one case without a file where there are none.
std::vector<std::string> shared_cars() {
  const auto shared = test::shared_dir();
  if (!shared) return {""};
  std::vector<std::string> files;
  for (const std::string folder : {"repos", "pds/repos"}) {
    for (const auto& entry : std::filesystem::directory_iterator(*shared / "data" / folder)) {
      if (entry.path().extension() != ".car") continue;
      files.push_back(folder + "/" + entry.path().filename().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class SharedListing : public testing::TestWithParam<std::string> {};

TEST_P(SharedListing, is_what_the_tree_holds) {
  if (GetParam().empty()) SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data" / GetParam());
  if (GetParam().ends_with("carv1-basic.car")) {
    expect_error(car, errc::car_not_a_repository);
  } else {
    expect_as_walked(car);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SharedListing, testing::ValuesIn(shared_cars()),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param);
                         });

/// The block of a node with one of its values replaced by a link of another form.
Bytes with_other_link(ByteView node, const Cid& value, const Bytes& other) {
  const auto plain = value.to_bytes();
  Bytes link = {0xd8, 42, 0x58, 37, 0};
  link.insert(link.end(), plain.begin(), plain.end());
  Bytes replaced = {0xd8, 42, 0x58, static_cast<std::uint8_t>(1 + other.size()), 0};
  replaced.insert(replaced.end(), other.begin(), other.end());
  Bytes block(node.begin(), node.end());
  const auto place = std::search(block.begin(), block.end(), link.begin(), link.end());
  EXPECT_NE(place, block.end());
  const auto at = block.erase(place, place + static_cast<std::ptrdiff_t>(link.size()));
  block.insert(at, replaced.begin(), replaced.end());
  return block;
}

TEST(RepositoryListing, a_record_that_is_linked_by_another_hash_is_lost_alone) {
  Bytes sha512 = {0x01, 0x71, 0x13, 64};
  sha512.resize(4 + 64, 7);
  Bytes dag_pb = {0x01, 0x70, 0x12, 32};
  dag_pb.resize(4 + 32, 7);
  for (const Bytes& other : {sha512, dag_pb}) {
    const Bytes car = test_cases::made_repository(1, 12);
    const auto whole = RepositoryListing::open(car);
    ASSERT_TRUE(whole);
    const ListedRecord lost = whole->at(5);
    // All nodes on the way from the record to the commit have new hashes.
    std::vector<CarBlock> blocks = blocks_of(car);
    std::vector<Bytes> made;
    made.reserve(blocks.size());
    std::vector<std::pair<Cid, Bytes>> changes = {{lost.cid, other}};
    Cid root = CarReader::open(car)->roots().front();
    for (bool is_first = true; !changes.empty(); is_first = false) {
      const auto [old, link] = changes.back();
      changes.pop_back();
      const auto plain = old.to_bytes();
      for (CarBlock& block : blocks) {
        if (std::search(block.data.begin(), block.data.end(), plain.begin(), plain.end()) ==
            block.data.end()) {
          continue;
        }
        made.push_back(with_other_link(block.data, old, link));
        const Cid changed = Cid::of(made.back());
        if (block.cid == root) root = changed;
        const auto bytes = changed.to_bytes();
        changes.emplace_back(block.cid, Bytes(bytes.begin(), bytes.end()));
        block = {changed, made.back()};
      }
      ASSERT_TRUE(!is_first || !changes.empty());
    }
    Bytes damaged;
    CarWriter writer(damaged, std::array{root});
    for (const CarBlock& block : blocks) writer.block(block.cid, block.data);
    const auto listing = RepositoryListing::open(damaged);
    ASSERT_TRUE(listing) << listing.error().message();
    EXPECT_EQ(listing->size(), 11U);
    EXPECT_EQ(listing->unreadable(), 1U);
    for (std::size_t i = 0; i < listing->size(); ++i) EXPECT_NE(listing->path(i), lost.path);
  }
}

TEST(RepositoryListing, takes_a_commit_without_revision) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/repos/paul_staging.repo.car");
  const auto listing = RepositoryListing::open(car);
  ASSERT_TRUE(listing) << listing.error().message();
  EXPECT_EQ(listing->commit().version, 2);
  EXPECT_FALSE(listing->commit().rev);
}

TEST(RepositoryListing, says_what_a_partial_slice_lacks) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/malformed/repo_slice_partial.car");
  expect_error(car, errc::mst_missing_node);
}

TEST(RepositoryListing, tolerates_a_few_copies_and_blocks_that_nobody_names) {
  const Bytes car = test_cases::made_repository(1, 30);
  std::vector<CarBlock> blocks = blocks_of(car);
  const auto originals = blocks;
  blocks.insert(blocks.end(), originals.rbegin(), originals.rend());
  const Bytes stranger = {0xa0};
  blocks.insert(blocks.begin() + 3, {Cid::of(stranger), stranger});
  const auto listing = RepositoryListing::open(car_with(car, blocks));
  ASSERT_TRUE(listing) << listing.error().message();
  EXPECT_EQ(listing->size(), 30U);
}

TEST(RepositoryListing, misses_any_block_of_a_whole_repository) {
  const Bytes car = test_cases::made_repository(1, 40);
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  std::set<Cid> records;
  for (const auto& [key, cid] : walked(*repository)) records.insert(cid);
  for (const CarBlock& block : blocks_of(car)) {
    const errc error = block.cid == repository->car.roots.front() ? errc::car_not_a_repository
                       : records.contains(block.cid)              ? errc::record_missing
                                                                  : errc::mst_missing_node;
    expect_error(without(car, {block.cid}), error);
  }
}

/// Expects of a CAR that lacks blocks that what is listed is a part of `all`, in order, and that a
/// gap is told wherever a part is left out.
void expect_gaps_told(const RepositoryListing& listing, const Entries& all) {
  std::size_t next = 0;
  for (std::size_t i = 0; i <= listing.size(); ++i) {
    const std::size_t begin = next;
    if (i < listing.size()) {
      while (next < all.size() && all[next].first != listing.at(i).path) ++next;
      ASSERT_LT(next, all.size());
      EXPECT_EQ(listing.at(i).cid, all[next].second);
    } else {
      next = all.size();
    }
    // Nothing is left out of a made tree but entries: here "may" is "do".
    EXPECT_EQ(listing.has_gap_before(i), next > begin) << i;
    ++next;
  }
}

class ListingWithGaps : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ListingWithGaps, tells_them) {
  const Bytes car = test_cases::made_repository(7, 600);
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  const Entries all = walked(*repository);
  std::vector<CarBlock> blocks = blocks_of(car);
  std::mt19937 random(GetParam());
  const std::size_t kept_of_ten = 1 + GetParam() % 9;
  std::erase_if(blocks, [&](const CarBlock& block) {
    return block.cid != repository->car.roots.front() && random() % 10 >= kept_of_ten;
  });
  const Bytes partial = car_with(car, blocks);
  const auto listing = RepositoryListing::open(partial, Extent::Since);
  ASSERT_TRUE(listing) << listing.error().message();
  expect_gaps_told(*listing, all);
  EXPECT_FALSE(RepositoryListing::open(partial));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListingWithGaps, testing::Range(0U, 18U),
                         testing::PrintToStringParamName());

TEST(RepositoryListing, is_one_gap_when_the_top_is_missing) {
  const Bytes car = test_cases::made_repository(1, 40);
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  const Bytes partial = without(car, {repository->commit.data});
  const auto listing = RepositoryListing::open(partial, Extent::Since);
  ASSERT_TRUE(listing) << listing.error().message();
  EXPECT_EQ(listing->size(), 0U);
  EXPECT_TRUE(listing->has_gap_before(0));
}

/// Where the codecs of CIDs stand: the only bytes that no hash and no length guards. They say
/// nothing that is used.
std::set<std::size_t> places_of_codecs(ByteView car) {
  const auto root = CarReader::open(car)->roots().front().to_bytes();
  const auto in_header = std::search(car.begin(), car.end(), root.begin(), root.end());
  std::set<std::size_t> places = {static_cast<std::size_t>(in_header - car.begin()) + 1};
  for (const CarBlock& block : blocks_of(car)) {
    places.insert(static_cast<std::size_t>(block.data.data() - car.data()) - Cid::kBinarySize + 1);
  }
  return places;
}

/// Fifteen changes of each byte, others from byte to byte. SKUA_LONG: all 255.
TEST(RepositoryListing, no_changed_byte_goes_unnoticed) {
  const Bytes car = test_cases::made_repository(3, 6);
  const std::set<std::size_t> codecs = places_of_codecs(car);
  const unsigned step = std::getenv("SKUA_LONG") != nullptr ? 1 : 17;
  for (std::size_t at = 0; at < car.size(); ++at) {
    for (unsigned change = 1 + static_cast<unsigned>(at % step); change < 0x100; change += step) {
      Bytes changed = car;
      changed[at] ^= static_cast<std::uint8_t>(change);
      const bool noticed = !RepositoryListing::open(changed);
      EXPECT_TRUE(noticed || codecs.contains(at)) << "byte " << at << " changed by " << change;
    }
  }
}

TEST(RepositoryListing, no_cut_goes_unnoticed) {
  const Bytes car = test_cases::made_repository(2, 12);
  for (std::size_t length = 0; length < car.size(); ++length) {
    // A copy of its own, so that a sanitizer sees any look beyond the end.
    const Bytes cut(car.begin(), car.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(RepositoryListing::open(cut)) << length;
    (void)RepositoryListing::open(cut, Extent::Since);
  }
}

/// A repository whose blocks a test makes itself.
Bytes car_of_tree(const Cid& tree, const std::vector<Bytes>& blocks) {
  const Bytes signature(64);
  Commit commit;
  commit.did = "did:plc:madeupmadeupmadeupmadeup";
  commit.data = tree;
  commit.rev = atproto::Tid{1};
  commit.signature = signature;
  const Bytes commit_block = commit_bytes(commit);
  Bytes car;
  CarWriter writer(car, std::array{Cid::of(commit_block)});
  writer.block(commit_block);
  for (const Bytes& block : blocks) writer.block(block);
  return car;
}

TEST(RepositoryListing, checks_the_tree_as_a_walk_does) {
  const Bytes record = {0xa0};
  const auto entry = [&](std::string_view key) {
    return MstNodeEntry{0, as_bytes(key), Cid::of(record), std::nullopt};
  };
  std::string key = "a";
  while (mst_key_depth(key) != 0) key += 'a';
  const Bytes doubled = encode_mst_node({std::nullopt, {entry(key), entry(key)}});
  expect_error(car_of_tree(Cid::of(doubled), {doubled, record}), errc::mst_order);
  const Bytes other = {0x80};
  expect_error(car_of_tree(Cid::of(other), {other, record}), errc::mst_malformed);
}

// The tree says what a record's codec is, whatever the CAR says.
TEST(RepositoryListing, gives_the_cid_that_is_signed) {
  const Bytes record = {0xa0};
  const Cid raw = Cid::of(record, Cid::kRaw);
  const std::array<std::pair<std::string, Cid>, 1> entries = {{{"com.example.thing/key", raw}}};
  const BuiltMst tree = build_mst(entries);
  const Bytes car = car_of_tree(tree.root, {tree.blocks.at(tree.root), record});
  const auto listing = RepositoryListing::open(car);
  ASSERT_TRUE(listing) << listing.error().message();
  ASSERT_EQ(listing->size(), 1U);
  EXPECT_EQ(listing->at(0).cid, raw);
}

// One record under very many long keys that share all but their ends, and stand in one node.
TEST(RepositoryListing, refuses_paths_far_larger_than_the_car) {
  const Bytes record = {0xa0};
  Entries entries;
  for (std::size_t i = 10'000; i < 14'000; ++i) {
    std::string key = "com.example.thing/" + std::string(900, 'k') + std::to_string(i);
    if (mst_key_depth(key) == 0) entries.emplace_back(std::move(key), Cid::of(record));
  }
  const BuiltMst tree = build_mst(entries);
  std::vector<Bytes> blocks = {record};
  for (const auto& [cid, node] : tree.blocks) blocks.push_back(node);
  expect_error(car_of_tree(tree.root, blocks), errc::mst_too_large);
}

}  // namespace
}  // namespace skua::repo::repository_listing_test
