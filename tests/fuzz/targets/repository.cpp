#include <string>

#include "event/repository_chunks.hpp"
#include "fuzz/target.hpp"
#include "repo/errc.hpp"
#include "repo/mst_reader.hpp"
#include "repo/repository_listing.hpp"

namespace skua::fuzz {
namespace {

void read(ByteView car, repo::RepositoryListing::Extent extent) {
  const auto listing = repo::RepositoryListing::open(car, extent);
  if (!listing) return;
  event::RepositoryDecoder decoder;
  std::string previous;
  for (std::size_t i = 0; i < listing->size(); ++i) {
    const auto record = listing->at(i);
    require(i == 0 || previous < record.path, "paths are in order, and none stands twice");
    previous = record.path;
    require(extent == repo::RepositoryListing::Extent::Since || !listing->has_gap_before(i),
            "a whole repository has no gap");
    const auto event = decoder.decode("did:plc:ewvi7nxzyoun6zhxrhs64oiz",
                                      listing->commit().rev.value_or(atproto::Tid{}), record);
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      require(change->collection + "/" + change->rkey == record.path, "a record keeps its path");
    }
  }
  if (extent != repo::RepositoryListing::Extent::Whole) return;
  const auto repository = repo::open_repository(car);
  require(repository.has_value(), "what can be listed is a repository");
  std::size_t entries = 0;
  const auto walk = repo::walk_mst(repository->commit.data, repository->car.blocks,
                                   [&](std::string_view, const atproto::Cid&) { ++entries; });
  require(walk && walk->missing_nodes == 0 && entries == listing->size(),
          "the tree has the records that are listed");
}

}  // namespace

void run_repository(ByteView input) {
  Bytes rehashed(input.begin(), input.end());
  rehash_car(rehashed, rehashed);
  for (const auto extent :
       {repo::RepositoryListing::Extent::Whole, repo::RepositoryListing::Extent::Since}) {
    read(input, extent);
    read(rehashed, extent);
  }
}

}  // namespace skua::fuzz
