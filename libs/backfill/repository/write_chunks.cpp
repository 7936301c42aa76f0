#include "backfill/repository/write_chunks.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>

#include "event/repository_chunks.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {
namespace {

/// After so many bytes of records the memory of a mapped CAR is released.
constexpr std::size_t kMappedBytes = std::size_t{32} << 20;

/// Leaves out the records that do not pass the filter, and old ones. A path without a collection
/// passes: it becomes a dead letter.
event::ChunkOptions chunk_options(const std::shared_ptr<const store::Filter>& filter,
                                  std::uint32_t origin, Timestamp now) {
  event::ChunkOptions options;
  options.origin = origin;
  if (filter && !filter->passes_all_records()) {
    options.leave_out_decoded = [filter, now](const event::RecordChange& change) {
      return filter->is_expired(change.collection, records::created_at(change.record.record), now);
    };
    options.leave_out = [filter](const repo::ListedRecord& record) {
      const auto slash = record.path.find('/');
      return slash != record.path.npos && !filter->passes_collection(record.path.substr(0, slash));
    };
  }
  return options;
}

}  // namespace

bool write_chunks(const JobServices& services, const UnfinishedRepository& repository,
                  UnfinishedRepositories::Id id) {
  const FetchedRepository& fetched = repository.fetched;
  const std::stop_token stop = services.readers.stop_token();
  event::RepositoryChunks chunks(
      repository.listing, fetched.job.did, *repository.listing.commit().rev, id,
      chunk_options(fetched.filter, services.origin, services.clock.now()));
  std::size_t mapped = fetched.car.size();
  while (auto chunk = chunks.next()) {
    chunk->lease_number = fetched.job.lease_number;
    mapped += chunk->bytes;
    if (fetched.mapped != nullptr && mapped > kMappedBytes) {
      fetched.mapped->let_go();
      mapped = 0;
    }
    if (!services.unfinished.add_chunk(id, chunk->bytes, stop)) return false;
    services.push_chunk(*std::move(chunk));
  }
  return true;
}

}  // namespace skua::backfill
