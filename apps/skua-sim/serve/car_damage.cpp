#include "car_damage.hpp"

#include <stdexcept>
#include <vector>

#include "repo/car_reader.hpp"
#include "repo/car_writer.hpp"

namespace skua::sim {
namespace {

struct OpenCar {
  std::vector<atproto::Cid> roots;
  std::vector<repo::CarBlock> blocks;
};

/// For a CAR that we have written ourselves.
OpenCar open(ByteView car) {
  auto reader = repo::CarReader::open(car);
  if (!reader) throw std::logic_error("our own CAR cannot be read: " + reader.error().message());
  OpenCar opened{reader->roots(), {}};
  auto block = reader->next();
  for (; block && *block; block = reader->next()) opened.blocks.push_back(**block);
  if (!block) throw std::logic_error("our own CAR cannot be read: " + block.error().message());
  return opened;
}

}  // namespace

std::size_t count_blocks(ByteView car) {
  return open(car).blocks.size() - 1;
}

Bytes without_block(ByteView car, std::size_t index) {
  const auto opened = open(car);
  Bytes copy;
  repo::CarWriter writer(copy, opened.roots);
  for (std::size_t i = 0; i < opened.blocks.size(); ++i) {
    if (i != index + 1) writer.block(opened.blocks[i].cid, opened.blocks[i].data);
  }
  return copy;
}

Bytes with_bad_block(ByteView car, std::size_t index) {
  const auto opened = open(car);
  const auto block = opened.blocks.at(index + 1).data;
  Bytes copy(car.begin(), car.end());
  copy[static_cast<std::size_t>(block.data() - car.data()) + block.size() / 2] ^= 0xff;
  return copy;
}

}  // namespace skua::sim
