#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "backfill/repository/fetched_repository.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {

/// A repository between its first chunk and its end.
struct UnfinishedRepository {
  FetchedRepository fetched;
  /// Views the fetched bytes.
  repo::RepositoryListing listing;
  /// Chunks that were handed to the workers and are not durable; one more while more may come.
  std::size_t pending = 1;
};

/// The repositories whose records are on their way into tables. Says which are ready to be
/// finished, and how much memory all hold: who reads repositories waits for room here, which is
/// what bounds the process. Any thread.
class UnfinishedRepositories {
 public:
  /// `chunk_bytes`: of chunks that wait for workers.
  explicit UnfinishedRepositories(std::size_t chunk_bytes) : chunk_limit_(chunk_bytes) {}

  using Id = std::uint64_t;

  /// Takes a repository in; its listing is good until it is taken as ready.
  Id begin(std::unique_ptr<UnfinishedRepository> repository);

  /// Waits for room for a chunk, and counts it. False: stop was asked for.
  bool add_chunk(Id id, std::size_t bytes, const std::stop_token& stop);
  /// A chunk is durable.
  void written(Id id, std::size_t bytes);
  /// No more chunks come.
  void complete(Id id);

  /// Takes up to `limit` repositories all of whose records are durable, those first that were ready
  /// first; waits at most `wait` for the first, and at most `linger` for more of those that are
  /// begun.
  std::vector<std::unique_ptr<UnfinishedRepository>> take_ready(std::size_t limit,
                                                                std::chrono::milliseconds wait,
                                                                std::chrono::milliseconds linger,
                                                                const std::stop_token& stop);

  /// Repositories that were begun and not taken yet.
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
