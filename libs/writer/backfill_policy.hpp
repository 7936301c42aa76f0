#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <span>
#include <stop_token>

#include "store/session.hpp"
#include "writer/batch_size.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/live_writer.hpp"
#include "writer/worker_services.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer {

/// Backfill workers: batches of about half a second, which COPY writes, so that no live event waits
/// longer for the lock of an account; live events have priority. Records come from whole
/// repositories and from the history of a Tap.
class BackfillPolicy final : public WritePolicy {
 public:
  explicit BackfillPolicy(const WorkerServices& services)
      : services_(services), bulk_(services.sources), single_(services.sources) {}

  std::size_t batch_size() const override { return size_.get(); }
  /// Their number adapts to the time that they take.
  std::size_t batch_cost() const override { return std::numeric_limits<std::size_t>::max(); }
  std::chrono::milliseconds linger() const override;
  void wait_for_priority(const std::stop_token& stop) override {
    services_.live_backpressure.wait_while_deep(stop);
  }
  Written write(store::Session& session, std::span<const TakenEvent> batch) override;

 private:
  Written copy(store::Session& session, std::span<const TakenEvent> batch);

  const WorkerServices& services_;
  const BulkWriter bulk_;
  /// For deletes, for several changes of one record, and for messages about accounts.
  const LiveWriter single_;
  BatchSize size_;
};

}  // namespace skua::writer
