#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/repository/fetched_repository.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/bounded_queue.hpp"
#include "base/time.hpp"
#include "event/chunk.hpp"

namespace skua::backfill {

/// Checks fetched repositories, each as a whole before any of it is written: every block's hash,
/// the tree, that it is the account's, signed by its key, and not older than what is known. Then
/// hands them to the workers in chunks, decoded as the workers make room. Threads of its own; a
/// repository is read by one.
class RepositoryReader {
 public:
  struct Options {
    std::size_t threads = 2;
    /// Chunks for the workers, from any of the threads.
    /// Of the chunks' events (UnresolvedEvent::origin).
    std::uint32_t origin = 0;
    std::function<void(event::Chunk)> sink;
    /// A CAR that cannot be used, with the reason in words for people.
    std::function<void(const Job&, const std::string& words)> on_failed;
    /// The signature does not fit the document, which may be old: a fresh one is to be had, and the
    /// repository to be pushed again.
    std::function<void(FetchedRepository)> on_other_key;
    /// Called when memory ran out and the like: the process must stop.
    std::function<void(const std::string& what)> on_defect;
  };

  /// `unfinished` and `clock` outlive it.
  RepositoryReader(Options options, UnfinishedRepositories& unfinished, const Clock& clock);
  ~RepositoryReader();

  /// Never waits. Any thread.
  void push(FetchedRepository fetched);
  /// Repositories that wait or are being read.
  std::size_t queued() const { return queue_.size(); }

  /// Ends the threads, whatever they are at. Idempotent.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void read(FetchedRepository fetched, const std::stop_token& stop);
  /// What is wrong with the commit; empty: nothing.
  std::string check(const FetchedRepository& fetched, const repo::Commit& commit) const;
  void send(std::unique_ptr<UnfinishedRepository> repository, const std::stop_token& stop);

  const Options options_;
  UnfinishedRepositories& unfinished_;
  const Clock& clock_;
  BoundedQueue<FetchedRepository> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
