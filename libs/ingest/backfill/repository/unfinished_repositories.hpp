#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "backfill/queue/job_outcomes.hpp"
#include "backfill/repository/held_car.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {

/// A repository between its first chunk and its end.
struct UnfinishedRepository {
  FetchedRepository fetched;
  /// The listing, which has views into the fetched bytes.
  repo::RepositoryListing listing;
  /// The number of chunks that the workers have and that are not durable, plus one until
  /// `complete`.
  std::size_t pending = 1;
  /// Reports the end of the job. The Finisher calls it once. It must be set before `complete`.
  std::function<void(JobEnd)> ended = nullptr;
};

/// The repositories whose records the workers are writing. The class knows which repositories are
/// ready to be finished. It limits the size of the chunks that wait for workers, and a reader
/// thread waits here for room. Any thread may use it.
class UnfinishedRepositories {
 public:
  /// `chunk_bytes` is the maximum size of all waiting chunks together.
  explicit UnfinishedRepositories(std::size_t chunk_bytes) : chunk_limit_(chunk_bytes) {}

  using Id = std::uint64_t;

  /// Adds a repository, which keeps its address until `take_ready` returns it.
  Id begin(std::unique_ptr<UnfinishedRepository> repository);

  /// Waits for room for a chunk, and counts the chunk. Returns false if a stop was requested.
  bool add_chunk(Id id, std::size_t bytes, const std::stop_token& stop);
  /// Reports that a chunk is durable.
  void written(Id id, std::size_t bytes);
  /// Reports that no more chunks come.
  void complete(Id id);

  /// Takes up to `limit` complete repositories without pending chunks, in the order in which they
  /// became ready. Waits at most `wait` for the first, and at most `linger` for further
  /// repositories.
  std::vector<std::unique_ptr<UnfinishedRepository>> take_ready(std::size_t limit,
                                                                std::chrono::milliseconds wait,
                                                                std::chrono::milliseconds linger,
                                                                const std::stop_token& stop);

  /// Returns the number of repositories that were added and not taken.
  std::size_t size() const;

 private:
  void release(Id id);

  const std::size_t chunk_limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable_any filled_;
  boost::unordered_flat_map<Id, std::unique_ptr<UnfinishedRepository>> repositories_;
  std::deque<std::unique_ptr<UnfinishedRepository>> ready_;
  Id last_ = 0;
  std::size_t chunk_bytes_ = 0;
};

}  // namespace skua::backfill
