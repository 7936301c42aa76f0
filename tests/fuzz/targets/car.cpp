#include "repo/car.hpp"

#include "fuzz/target.hpp"
#include "repo/block_index.hpp"
#include "repo/errc.hpp"

namespace skua::fuzz {
namespace {

void read(ByteView car) {
  repo::LoadedCar loaded;
  const auto whole = repo::load_car(car, loaded);
  const auto index = repo::BlockIndex::build(car);
  if (!index) {
    require(!whole || index.error() == repo::errc::car_duplicates,
            "what can be loaded has an index");
    return;
  }
  require(whole.has_value(), "what has an index can be loaded");
  require(index->size() == loaded.blocks.size() + loaded.duplicates, "both count the same blocks");
  for (const auto& [digest, data] : loaded.blocks) {
    const std::size_t section = index->find(digest);
    require(section != repo::BlockIndex::kMissing, "the index finds each block");
    const auto block = repo::car_block_at(car, section);
    require(block.cid.digest == digest, "a section is the one that was asked for");
    require(block.data.size() == data.size(), "a block's length does not depend on its reader");
  }
}

}  // namespace

void run_car(ByteView input) {
  read(input);
  Bytes rehashed(input.begin(), input.end());
  rehash_car(rehashed, rehashed);
  read(rehashed);
}

}  // namespace skua::fuzz
