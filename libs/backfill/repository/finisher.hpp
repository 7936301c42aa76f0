#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/repository/finish.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/time.hpp"
#include "resolve/resolver.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Ends repositories whose records are durable, many small ones in one transaction, on a thread and
/// a connection of its own. A failure of the server is retried for ever with a pause.
class Finisher {
 public:
  struct Options {
    std::string database_url;
    /// Whose jobs they are.
    std::string holder;
    /// Repositories that are done, and rows that were removed because they are in none of them.
    std::function<void(std::size_t repositories, std::size_t removed)> on_done;
    /// A repository that cannot be finished, with the reason in words for people.
    std::function<void(const Job&, const std::string& words)> on_failed;
    /// Its job was taken away.
    std::function<void(const Job&)> on_lost;
    std::function<void(const std::string& what)> on_defect;
  };

  /// The rest outlives it.
  Finisher(Options options, UnfinishedRepositories& unfinished, resolve::SharedIds& ids,
           const Clock& clock);
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
  const Clock& clock_;
  std::unique_ptr<store::Session> session_;
  std::jthread thread_;
};

}  // namespace skua::backfill
