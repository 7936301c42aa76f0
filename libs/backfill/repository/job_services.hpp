#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "backfill/backfill_counters.hpp"
#include "backfill/hosts/spool_budget.hpp"
#include "backfill/repository/fetched_repository.hpp"
#include "backfill/repository/reader_threads.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/time.hpp"
#include "event/chunk.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The longest CAR that is downloaded, unless an option says otherwise.
inline constexpr std::size_t kLargestRepository = std::size_t{2} << 30;

struct DownloadLimits {
  std::size_t largest_repository = kLargestRepository;
  /// The least that a download must transfer in a second: over half a minute, and on average if it
  /// takes long.
  std::uint64_t slowest = 64 * 1024;
  std::uint64_t slowest_on_average = 128 * 1024;
};

/// What the steps of all jobs use. All of it outlives the jobs.
struct JobServices {
  /// Empty: signatures are not checked, and a job's host is the one that it names.
  FindAccount find_account = nullptr;
  /// Empty: the error's own message.
  AccountFailure account_failure = nullptr;
  /// False: documents are looked up to find hosts only.
  bool verify = true;
  DownloadLimits download = {};
  transport::HttpClient& http;
  /// The disk space of CARs that are too large for memory.
  SpoolBudget& disk;
  ReaderThreads& readers;
  UnfinishedRepositories& unfinished;
  BackfillCounters& counters;
  /// For the times of revisions.
  const Clock& clock;
  /// For the times of jobs.
  const Clock& jobs_clock;
  /// Of the chunks' events (UnresolvedEvent::origin).
  std::uint32_t origin = 0;
  /// Passes a chunk to its worker. Any thread.
  std::function<void(event::Chunk)> push_chunk = nullptr;
};

}  // namespace skua::backfill
