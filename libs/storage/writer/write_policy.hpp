#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/bulk_writer.hpp"
#include "writer/row_writer.hpp"
#include "writer/worker_services.hpp"

namespace skua::writer {

/// An event that a worker has taken from its queue, and its chunk.
struct TakenEvent {
  event::ResolvedEvent* event = nullptr;
  const event::Chunk* chunk = nullptr;
};

/// The outcome of a batch.
struct Written {
  std::size_t rows = 0;  // rows whose content was inserted, changed or deleted
  /// events that a guard excluded, or that a later event of the batch replaced
  std::size_t unchanged = 0;
  std::size_t dead_letters = 0;
  /// Indices of events that were not written, in their order, because another session holds the
  /// lock of their account.
  std::vector<std::size_t> busy;
};

/// The difference between live workers and backfill workers. Each worker has its own policy, and
/// calls all functions but `queued` on its own thread.
class WritePolicy {
 public:
  WritePolicy() = default;
  virtual ~WritePolicy() = default;
  WritePolicy(const WritePolicy&) = delete;
  WritePolicy& operator=(const WritePolicy&) = delete;

  /// Reports that events were put into the worker's queue. Any thread may call it.
  virtual void queued(std::size_t /*events*/) {}
  /// Reports that the worker took events from its queue.
  virtual void taken(std::size_t /*events*/) {}
  /// Returns the maximum number of events in the next batch.
  virtual std::size_t batch_size() const = 0;
  /// Returns the maximum cost of the events in the next batch (Worker::Traits::cost). The last
  /// event may exceed it.
  virtual std::size_t batch_cost() const = 0;
  /// Returns how long a batch that is not full waits for more events.
  virtual std::chrono::milliseconds linger() const = 0;
  /// Returns when no work of a higher priority waits, or a stop was requested.
  virtual void wait_for_priority(const std::stop_token& stop) = 0;
  /// Writes resolved events of one lane, whose producers share their counters. Throws
  /// postgres::SqlError. A repetition is idempotent.
  virtual Written write(postgres::Session& session, std::span<const TakenEvent> batch) = 0;
};

/// The number of backfill events in a transaction. Earlier transactions determine it, so that a
/// transaction takes half a second. A row costs less in a larger transaction, but live events wait
/// for the accounts of the transaction. Each worker has one, on its thread.
class BatchSize {
 public:
  static constexpr std::size_t kFirst = 2'500;
  static constexpr std::size_t kSmallest = 250;
  static constexpr std::size_t kLargest = 10'000;
  /// The duration above which the next transaction must be smaller. It is well below half a second,
  /// because the next transaction may be slower.
  static constexpr std::chrono::milliseconds kTooLong{350};
  /// The duration below which the next transaction could be larger.
  static constexpr std::chrono::milliseconds kShort{200};

  std::size_t get() const { return size_; }

  /// Adapts the size to the duration of a transaction. A short duration of a transaction that was
  /// not full has no effect.
  void took(std::size_t events, std::chrono::microseconds time) {
    if (time > kTooLong) {
      size_ = std::max(size_ / 2, kSmallest);
    } else if (time < kShort && events >= size_) {
      size_ = std::min(size_ + size_ / 4, kLargest);
    }
  }

 private:
  std::size_t size_ = kFirst;
};

/// Writes events with the RowWriter. If they deleted accounts, it deletes up to 5,000 rows of these
/// accounts, which are all rows of most accounts. retention::Remover deletes the remaining rows.
/// Backfill workers use the function for events that COPY cannot write. The posts that got their
/// first version are added to `known`.
Written write_events(postgres::Session& session, const RowWriter& writer, RowWriter::Batch batch,
                     Timestamp now, ids::KnownPosts& known);

/// The policy of live workers: small batches, so that rows are stored within milliseconds. An event
/// whose account is locked waits for the next batch.
class LivePolicy final : public WritePolicy {
 public:
  /// The limit on the number of events. Larger batches gain a few percent, and need more locks at a
  /// time than a server with default settings has.
  static constexpr std::size_t kBatch = 640;

  /// The limit on the cost. A batch of ordinary records costs a third of this. A transaction with
  /// this cost takes about 100 ms, whatever its records contain.
  static constexpr std::size_t kBatchCost = std::size_t{1} << 20;

  explicit LivePolicy(const WorkerServices& services)
      : services_(services), writer_(services.sources) {}

  void queued(std::size_t events) override { services_.live_backpressure.add(events); }
  void taken(std::size_t events) override { services_.live_backpressure.remove(events); }
  std::size_t batch_size() const override { return kBatch; }
  std::size_t batch_cost() const override { return kBatchCost; }
  std::chrono::milliseconds linger() const override;
  void wait_for_priority(const std::stop_token& /*stop*/) override {}
  Written write(postgres::Session& session, std::span<const TakenEvent> batch) override;

 private:
  const WorkerServices& services_;
  const RowWriter writer_;
};

/// The policy of backfill workers: batches of about half a second, written by COPY. Half a second
/// is the longest time that a live event waits for the lock of an account. Live events have
/// priority. The records come from whole repositories and from the history of a Tap.
class BackfillPolicy final : public WritePolicy {
 public:
  explicit BackfillPolicy(const WorkerServices& services)
      : services_(services), bulk_(services.sources), single_(services.sources) {}

  std::size_t batch_size() const override { return size_.get(); }
  /// The cost has no limit, because the number of events adapts to the duration of transactions.
  std::size_t batch_cost() const override { return std::numeric_limits<std::size_t>::max(); }
  std::chrono::milliseconds linger() const override;
  void wait_for_priority(const std::stop_token& stop) override {
    services_.live_backpressure.wait_while_deep(stop);
  }
  Written write(postgres::Session& session, std::span<const TakenEvent> batch) override;

 private:
  Written copy(postgres::Session& session, std::span<const TakenEvent> batch);

  const WorkerServices& services_;
  const BulkWriter bulk_;
  /// The writer for deletes, for several changes of one record, and for messages about accounts.
  const RowWriter single_;
  BatchSize size_;
};

}  // namespace skua::writer
