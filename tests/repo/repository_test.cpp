#include <array>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "repo/car.hpp"
#include "repo/errc.hpp"
#include "repo/made_repository.hpp"
#include "repo/mst_reader.hpp"
#include "repo/mst_tree.hpp"
#include "repo/repository_listing.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::repository_test {
namespace {

using atproto::Cid;
using test_cases::Entries;

/// All entries of a repository whose tree is whole.
Entries list(const Repository& repository) {
  Entries entries;
  const auto walk =
      walk_mst(repository.commit.data, repository.car.blocks,
               [&](std::string_view key, const Cid& value) { entries.emplace_back(key, value); });
  EXPECT_TRUE(walk) << walk.error().message();
  EXPECT_EQ(walk->entries, entries.size());
  EXPECT_EQ(walk->missing_nodes, 0U);
  return entries;
}

TEST(OpenRepository, takes_a_made_one) {
  const Bytes car = test_cases::made_repository(1, 100);
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository) << repository.error().message();
  EXPECT_EQ(repository->commit.did, "did:plc:madeupmadeupmadeupmadeup");
  const Entries entries = list(*repository);
  EXPECT_EQ(entries.size(), 100U);
  for (const auto& [key, cid] : entries) {
    EXPECT_TRUE(repository->car.blocks.contains(cid.digest)) << key;
  }
}

TEST(OpenRepository, takes_an_empty_one) {
  const Bytes car = test_cases::made_repository(1, 0);
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  EXPECT_TRUE(list(*repository).empty());
}

/// The blocks of a CAR with other roots.
Bytes with_roots(ByteView car, const std::vector<Cid>& roots) {
  Bytes result;
  CarWriter writer(result, roots);
  auto reader = CarReader::open(car);
  for (auto block = reader->next(); block && *block; block = reader->next()) {
    writer.block((*block)->cid, (*block)->data);
  }
  return result;
}

TEST(OpenRepository, ignores_further_roots) {
  const Bytes car = test_cases::made_repository(1, 20);
  const auto expected = open_repository(car);
  ASSERT_TRUE(expected);
  const Cid root = expected->car.roots.front();
  const std::vector<std::vector<Cid>> further = {
      {root}, {Cid::of(as_bytes("elsewhere"))}, {expected->commit.data, root}};
  for (const auto& others : further) {
    std::vector<Cid> roots = {root};
    roots.insert(roots.end(), others.begin(), others.end());
    const Bytes changed = with_roots(car, roots);
    const auto repository = open_repository(changed);
    ASSERT_TRUE(repository) << repository.error().message();
    EXPECT_EQ(list(*repository), list(*expected));
    const auto listing = RepositoryListing::open(changed);
    ASSERT_TRUE(listing) << listing.error().message();
    EXPECT_EQ(listing->size(), 20U);
  }
  const Bytes other_first = with_roots(car, std::vector<Cid>{expected->commit.data, root});
  EXPECT_EQ(open_repository(other_first).error(), errc::car_not_a_repository);
}

TEST(OpenRepository, wants_a_first_root_that_is_a_commit) {
  const Bytes block = {0x81, 0x01};
  const Cid cid = Cid::of(block);
  const auto error_with = [&](const std::vector<Cid>& roots) {
    Bytes car;
    CarWriter(car, roots).block(block);
    const auto repository = open_repository(car);
    EXPECT_FALSE(repository);
    return repository.error();
  };
  EXPECT_EQ(error_with({}), errc::car_not_a_repository);
  EXPECT_EQ(error_with({cid, cid}), errc::car_not_a_repository);
  EXPECT_EQ(error_with({Cid::of(as_bytes("elsewhere"))}), errc::car_not_a_repository);
  EXPECT_EQ(error_with({cid}), errc::car_not_a_repository);
}

TEST(OpenRepository, no_cut_crashes) {
  const Bytes car = test_cases::made_repository(2, 12);
  for (std::size_t length = 0; length < car.size(); ++length) {
    // A copy of its own, so that a sanitizer sees any look beyond the end.
    const Bytes cut(car.begin(), car.begin() + static_cast<std::ptrdiff_t>(length));
    const auto repository = open_repository(cut);
    if (!repository) continue;
    const auto walk = walk_mst(repository->commit.data, repository->car.blocks,
                               [](std::string_view, const Cid&) {});
    EXPECT_TRUE(walk) << length;  // what is missing is counted
  }
}

TEST(OpenRepository, no_changed_byte_crashes) {
  const Bytes car = test_cases::made_repository(3, 4);
  for (std::size_t at = 0; at < car.size(); ++at) {
    for (const unsigned change : {0x01U, 0x80U, 0xffU}) {
      Bytes changed = car;
      changed[at] ^= static_cast<std::uint8_t>(change);
      const auto repository = open_repository(changed);
      if (!repository) continue;
      (void)walk_mst(repository->commit.data, repository->car.blocks,
                     [](std::string_view, const Cid&) {});
    }
  }
}

struct SharedRepository {
  std::string file;
  std::size_t records;

  friend std::ostream& operator<<(std::ostream& out, const SharedRepository& repository) {
    return out << repository.file;
  }
};

class SharedRepositories : public testing::TestWithParam<SharedRepository> {
 protected:
  void SetUp() override {
    SKUA_NEED_SHARED();
    car_ = test::read_file(*test::shared_dir() / "data/repos" / GetParam().file);
  }
  Bytes car_;
};

TEST_P(SharedRepositories, list_their_records) {
  const auto repository = open_repository(car_);
  ASSERT_TRUE(repository) << repository.error().message();
  const Entries entries = list(*repository);
  EXPECT_EQ(entries.size(), GetParam().records);
  std::size_t missing = 0;
  for (const auto& [key, cid] : entries) {
    if (!repository->car.blocks.contains(cid.digest)) ++missing;
  }
  EXPECT_EQ(missing, 0U);
}

TEST_P(SharedRepositories, have_the_tree_that_we_would_build) {
  const auto repository = open_repository(car_);
  ASSERT_TRUE(repository);
  const BuiltMst built = build_mst(list(*repository));
  EXPECT_EQ(built.root, repository->commit.data);
  for (const auto& [cid, block] : built.blocks) {
    EXPECT_TRUE(repository->car.blocks.contains(cid.digest));
  }
}

const std::vector<SharedRepository> kSharedRepositories = {{"hagoromo_getrepo.car", 559},
                                                           {"little.car", 278},
                                                           {"paul_staging.repo.car", 185},
                                                           {"php_car_repo.car", 83},
                                                           {"tiny.car", 8},
                                                           {"rsky_valid_repo.car", 6},
                                                           {"arroba_snarfed2.car", 5},
                                                           {"greenground.repo.car", 2},
                                                           {"empty.car", 0}};

INSTANTIATE_TEST_SUITE_P(Files, SharedRepositories, testing::ValuesIn(kSharedRepositories),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param.file);
                         });

TEST(SharedRepositoriesApart, car_of_something_else_is_no_repository) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/repos/carv1-basic.car");
  const auto repository = open_repository(car);
  ASSERT_FALSE(repository);
  EXPECT_EQ(repository.error(), errc::car_not_a_repository) << repository.error().message();
}

TEST(SharedRepositoriesApart, paul_staging_has_duplicates) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/repos/paul_staging.repo.car");
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  EXPECT_EQ(repository->commit.version, 2);
  EXPECT_GT(repository->car.duplicates, 0U);
}

struct Malformed {
  std::string file;
  errc error;

  friend std::ostream& operator<<(std::ostream& out, const Malformed& malformed) {
    return out << malformed.file;
  }
};

class MalformedCars : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedCars, end_in_a_clear_error) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/malformed" / GetParam().file);
  const auto repository = open_repository(car);
  ASSERT_FALSE(repository);
  EXPECT_EQ(repository.error(), GetParam().error) << repository.error().message();
}

const std::vector<Malformed> kMalformedCars = {
    {"carv2-basic.car", errc::car_bad_version},
    {"sample-corrupt-pragma.car", errc::car_truncated},
    {"sample-rootless-v42.car", errc::car_bad_version},
    {"sample-v1.car", errc::car_bad_cid},
    {"sample-v1-tailing-corrupt-section.car", errc::car_bad_cid},
    {"sample-v1-with-zero-len-section2.car", errc::car_bad_cid}};

INSTANTIATE_TEST_SUITE_P(Files, MalformedCars, testing::ValuesIn(kMalformedCars),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param.file);
                         });

TEST(MalformedCarsApart, partial_slice_says_what_it_lacks) {
  SKUA_NEED_SHARED();
  const Bytes car = test::read_file(*test::shared_dir() / "data/malformed/repo_slice_partial.car");
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository) << repository.error().message();
  std::size_t missing_records = 0;
  const auto walk = walk_mst(repository->commit.data, repository->car.blocks,
                             [&](std::string_view, const Cid& value) {
                               if (!repository->car.blocks.contains(value.digest))
                                 ++missing_records;
                             });
  ASSERT_TRUE(walk) << walk.error().message();
  EXPECT_EQ(walk->missing_nodes, 1U);
  EXPECT_EQ(missing_records, 4U);
}

/// The names of a folder's CARs.
std::set<std::string> cars_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(*test::shared_dir() / "data" / folder)) {
    if (entry.path().extension() == ".car") names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(SharedFolders, have_no_car_without_a_test) {
  SKUA_NEED_SHARED();
  std::set<std::string> repositories = {"carv1-basic.car"};
  for (const auto& repository : kSharedRepositories) repositories.insert(repository.file);
  EXPECT_EQ(cars_in("repos"), repositories);
  std::set<std::string> malformed = {"repo_slice_partial.car"};
  for (const auto& car : kMalformedCars) malformed.insert(car.file);
  EXPECT_EQ(cars_in("malformed"), malformed);
}

TEST(SharedPds, repositories_have_the_trees_that_we_would_build) {
  SKUA_NEED_SHARED();
  std::size_t records = 0;
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(*test::shared_dir() / "data/pds/repos")) {
    const Bytes car = test::read_file(entry.path());
    const auto repository = open_repository(car);
    ASSERT_TRUE(repository) << entry.path();
    const Entries entries = list(*repository);
    ASSERT_EQ(build_mst(entries).root, repository->commit.data) << entry.path();
    records += entries.size();
    ++files;
  }
  EXPECT_EQ(files, 75U);
  EXPECT_EQ(records, 9258U);
}

}  // namespace
}  // namespace skua::repo::repository_test
