#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/repository/finish.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "resolve/resolver.hpp"
#include "store/runtime.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Finishes repositories when their records are durable (finish_repositories), many small ones in
/// one transaction, on a thread and a connection of its own. Retries without limit after a failure
/// of the server. Reports how each job ended (UnfinishedRepository::ended).
class Finisher {
 public:
  /// `lease_owner`: of the jobs. The rest outlives it.
  Finisher(store::Runtime& runtime, std::string lease_owner, UnfinishedRepositories& unfinished,
           resolve::SharedIds& ids, BackfillCounters& counters);
  ~Finisher();

  /// Ends the thread. Idempotent.
  void stop();

 private:
  using Batch = std::vector<std::unique_ptr<UnfinishedRepository>>;

  void run(const std::stop_token& stop);
  void finish(std::span<const std::unique_ptr<UnfinishedRepository>> batch,
              const std::stop_token& stop);
  void finish_once(std::span<const std::unique_ptr<UnfinishedRepository>> batch);

  store::Runtime& runtime_;
  const std::string lease_owner_;
  UnfinishedRepositories& unfinished_;
  resolve::SharedIds& ids_;
  BackfillCounters& counters_;
  std::unique_ptr<store::Session> session_;
  std::jthread thread_;
};

}  // namespace skua::backfill
