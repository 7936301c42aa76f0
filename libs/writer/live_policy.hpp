#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>

#include "base/time.hpp"
#include "store/session.hpp"
#include "writer/live_writer.hpp"
#include "writer/worker_services.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer {

/// Writes events with the LiveWriter. If they deleted accounts, it deletes up to 5,000 rows of
/// these, which are all rows of most accounts: the other rows stay for retention::Remover. Backfill
/// workers use it for what COPY cannot write.
Written write_events(store::Session& session, const LiveWriter& writer, LiveWriter::Batch batch,
                     Timestamp now);

/// Live workers: small batches, so that rows are there within milliseconds. An event whose account
/// is locked waits for the next batch.
class LivePolicy final : public WritePolicy {
 public:
  /// Larger batches gain a few percent, and need more locks at a time than a server with default
  /// settings has.
  static constexpr std::size_t kBatch = 640;

  /// A batch of ordinary records costs a third of this. A transaction that costs as much takes
  /// about 100 ms, whatever its records contain.
  static constexpr std::size_t kBatchCost = std::size_t{1} << 20;

  explicit LivePolicy(const WorkerServices& services)
      : services_(services), writer_(services.sources) {}

  void queued(std::size_t events) override { services_.live_backpressure.add(events); }
  void taken(std::size_t events) override { services_.live_backpressure.remove(events); }
  std::size_t batch_size() const override { return kBatch; }
  std::size_t batch_cost() const override { return kBatchCost; }
  std::chrono::milliseconds linger() const override;
  void wait_for_priority(const std::stop_token& /*stop*/) override {}
  Written write(store::Session& session, std::span<const TakenEvent> batch) override;

 private:
  const WorkerServices& services_;
  const LiveWriter writer_;
};

}  // namespace skua::writer
