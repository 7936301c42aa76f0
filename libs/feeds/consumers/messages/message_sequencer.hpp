#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/metric.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

namespace skua::consumers {

/// Metrics of the sequencer of this process. Any thread.
struct MessageMetrics {
  Counter moved{"messages_moved", "skua_messages_moved_total", "messages",
                "Own messages that this process moved from the inbox to the change log"};
  Counter failures{"message_failures", "skua_message_failures_total", "failures",
                   "Failed attempts to move messages from the inbox to the change log"};
};

/// Moves own messages of committed transactions from the inbox (skua.message_inbox) to the change
/// log, in batches. Messages of one topic and key keep the order of their commits. A message of an
/// open transaction delays no other message. Any number of sessions of any processes may have a
/// mover; one of them moves messages at a time. Used by one thread, with one database.
class MessageMover {
 public:
  /// Moves the next messages in one transaction. Returns their number, which is 0 if no message
  /// waits, another session moves messages now, or a bootstrap is open. Throws postgres::SqlError;
  /// then the mover must not be used any more.
  std::int64_t move(postgres::Session& session);

 private:
  /// A row of messages_check.
  struct Check {
    std::optional<std::int64_t> first;
    /// True if message numbers were given out since the inbox was drained.
    bool has_numbers;
    std::int64_t newest;
    std::int64_t oldest_transaction;
  };
  void raise_floor(postgres::Session& session, const Check& check);

  /// All messages up to this number are moved, and no other message can have such a number. Each
  /// search begins behind it, so that it does not read the deleted rows of earlier messages, which
  /// stay in the index as long as any transaction is open, such as that of a backup.
  std::int64_t floor_ = 0;
  /// The floor rises up to the number when all transactions with smaller ids have ended.
  struct NextFloor {
    std::int64_t number;
    std::int64_t transaction_id;
  };
  std::optional<NextFloor> next_floor_;
  std::int64_t newest_before_ = 0;
};

/// Moves own messages to the change log on its own thread and session. While no messages come it
/// looks for them at intervals up to `idle_pause`. While the database is down the thread waits.
/// Owned by one thread.
class MessageSequencer {
 public:
  struct Options {
    std::chrono::milliseconds busy_pause{10};
    std::chrono::milliseconds idle_pause{160};
  };

  explicit MessageSequencer(postgres::Runtime& runtime) : MessageSequencer(runtime, Options()) {}
  MessageSequencer(postgres::Runtime& runtime, Options options);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const MessageMetrics& metrics() const { return metrics_; }

 private:
  std::chrono::milliseconds round(postgres::Session& session, const std::stop_token& stop);

  const Options options_;
  MessageMetrics metrics_;
  MessageMover mover_;
  std::chrono::milliseconds pause_;
  postgres::SessionThread thread_;
};

}  // namespace skua::consumers
