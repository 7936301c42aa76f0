#include "repo/repository.hpp"

#include <utility>

#include "repo/errc.hpp"

namespace skua::repo {

Result<Repository> open_repository(ByteView car) {
  // First the roots: a CAR of something else may well hold blocks that no repository can have.
  const auto header = CarReader::open(car);
  if (!header) return header.error();
  if (header->roots().empty()) return errc::car_not_a_repository;

  Repository repository;
  if (const auto loaded = load_car(car, repository.car); !loaded) return loaded.error();
  const auto block = repository.car.blocks.find(repository.car.roots.front().digest);
  if (block == repository.car.blocks.end()) return errc::car_not_a_repository;
  const auto commit = decode_commit(block->second);
  if (!commit) return errc::car_not_a_repository;
  repository.commit = *commit;
  return repository;
}

}  // namespace skua::repo
