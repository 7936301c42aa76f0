#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/repository/finish.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/time.hpp"
#include "resolve/resolver.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Finishes repositories when their records are durable (finish_repositories), many small ones in
/// one transaction, on a thread and a connection of its own. Retries without limit after a failure
/// of the server. Reports how each job ended (UnfinishedRepository::ended).
class Finisher {
 public:
  struct Options {
    std::string database_url = {};
    /// The lease owner of the jobs.
    std::string lease_owner = {};
    /// Called after a fatal error.
    std::function<void(const std::string& what)> on_defect = {};
  };

  /// The rest outlives it.
  Finisher(Options options, UnfinishedRepositories& unfinished, resolve::SharedIds& ids,
           BackfillCounters& counters, const Clock& clock);
  ~Finisher();

  /// Ends the thread. Idempotent.
  void stop();

 private:
  using Batch = std::vector<std::unique_ptr<UnfinishedRepository>>;

  void run(const std::stop_token& stop);
  void finish(std::span<const std::unique_ptr<UnfinishedRepository>> batch,
              const std::stop_token& stop);
  void finish_once(std::span<const std::unique_ptr<UnfinishedRepository>> batch);

  const Options options_;
  UnfinishedRepositories& unfinished_;
  resolve::SharedIds& ids_;
  BackfillCounters& counters_;
  const Clock& clock_;
  std::unique_ptr<store::Session> session_;
  std::jthread thread_;
};

}  // namespace skua::backfill
