#include "consumers/messages/message_sequencer.hpp"

#include <algorithm>
#include <utility>

#include "base/crash_point.hpp"
#include "consumers/messages/message_sequencer.sql.hpp"
#include "postgres/connection_string.hpp"

namespace skua::consumers {

namespace {

using std::chrono::milliseconds;

/// A batch is short, because its transaction holds the lock of the change log while it stores the
/// content of the messages.
constexpr std::int32_t kMessagesOfBatch = 500;
constexpr std::int64_t kBytesOfBatch = 1 << 20;

}  // namespace

std::int64_t MessageMover::move(postgres::Session& session) {
  const auto check = session.query_one<Check>(sql::messages_check, floor_);
  raise_floor(session, check);
  if (!check.first && !check.has_numbers) return 0;
  const auto moved = session.query_one<std::optional<std::int32_t>>(
      sql::messages_move, floor_, kMessagesOfBatch, kBytesOfBatch);
  crash_point("after_messages_moved");
  return moved.value_or(0);
}

void MessageMover::raise_floor(postgres::Session& session, const Check& check) {
  // A transaction has an id before its message has a number (skua.enqueue). So when all
  // transactions with ids below that of `next_floor_` have ended, each message up to its number is
  // visible, was moved, or was rolled back; and the check found the first one that is visible.
  if (next_floor_ && check.oldest_transaction >= next_floor_->transaction_id) {
    floor_ = std::min(next_floor_->number, check.first.value_or(check.newest + 1) - 1);
    if (floor_ == next_floor_->number) next_floor_.reset();
  }
  // The number is that of the round before: all transactions with smaller numbers have an id now,
  // which is below the next one.
  if (!next_floor_ && newest_before_ > floor_) {
    next_floor_ =
        NextFloor{newest_before_, session.query_one<std::int64_t>(sql::messages_transaction_id)};
  }
  newest_before_ = check.newest;
}

MessageSequencer::MessageSequencer(postgres::Runtime& runtime, Options options)
    : options_(options),
      pause_(options.busy_pause),
      thread_(runtime,
              {.session_name = postgres::process_name("skua messages"),
               .component = "feed",
               .failure = "messages are not moved to the change log",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                return round(session.get(), stop);
              }) {}

milliseconds MessageSequencer::round(postgres::Session& session, const std::stop_token& stop) {
  try {
    std::int64_t moved = 0;
    while (!stop.stop_requested()) {
      const std::int64_t batch = mover_.move(session);
      if (batch == 0) break;
      moved += batch;
      metrics_.moved += static_cast<std::uint64_t>(batch);
    }
    pause_ = moved > 0 ? options_.busy_pause : std::min(pause_ * 2, options_.idle_pause);
    return pause_;
  } catch (...) {
    // The next session may have another database, or an older state of it.
    mover_ = MessageMover();
    metrics_.failures += 1;
    throw;
  }
}

}  // namespace skua::consumers
