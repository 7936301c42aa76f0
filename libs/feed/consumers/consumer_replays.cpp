#include "feed/consumers/consumer_replays.hpp"

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "feed/consumers/batch_fold.hpp"
#include "feed/consumers/consumer_replays.sql.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/failed_work.hpp"
#include "store/consumer_letters.hpp"
#include "store/dead_letter_table.hpp"
#include "store/process_name.hpp"

namespace skua::feed {
namespace {

constexpr std::size_t kLettersOfRound = 100;

const char* operation_text(std::int32_t operation) {
  constexpr const char* kTexts[] = {"create", "update", "delete"};
  return kTexts[operation - 1];
}

std::string lease_owner() {
  return store::process_name("skua consumers");
}

/// A row of consumers_lock_lane.
struct LockedLane {
  std::int64_t start;
  std::int32_t timeline;
  bool has_change;
};

/// A row of consumers_change.
struct LoggedChange {
  std::int32_t operation;
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
  std::int32_t timeline;
};

/// One letter, in one transaction.
void replay(store::Session& session, const Projection& projection, const Consumer& consumer,
            const store::RequestedLetter& requested) {
  const store::ConsumerLetter& letter = requested.letter;
  store::Transaction transaction(session);
  const auto lane = session.query_first<LockedLane>(sql::consumers_lock_lane, consumer.id,
                                                    letter.lane, letter.position);
  if (!lane) {
    store::release_replay(session, requested.id, lease_owner());
  } else if (letter.position < lane->start) {
    store::resolve_replay(session, requested.id, lease_owner(),
                          "the tables were built after this change");
  } else if (letter.timeline != lane->timeline || !lane->has_change) {
    store::fail_replay(
        session, requested.id, lease_owner(),
        fmt::format("the log does not have the change any more: rebuild {}", consumer.name), "");
  } else {
    apply_changes(session, projection,
                  {.consumer_id = consumer.id,
                   .name = consumer.name,
                   .lane = letter.lane,
                   .lanes = static_cast<std::int32_t>(consumer.lanes.size()),
                   .first = letter.position,
                   .end = letter.position + 1});
    store::resolve_replay(session, requested.id, lease_owner(), "replayed");
  }
  transaction.commit();
}

}  // namespace

std::optional<std::int64_t> write_skipped_change(store::Session& session,
                                                 const std::string& consumer, std::int32_t lane,
                                                 std::int64_t position, const std::string& error,
                                                 const std::string& sqlstate) {
  const auto change = session.query_one<LoggedChange>(sql::consumers_change, position);
  return store::write_consumer_letter(session,
                                      {.consumer = consumer,
                                       .lane = lane,
                                       .timeline = change.timeline,
                                       .position = position,
                                       .operation = operation_text(change.operation),
                                       .actor_id = change.actor_id,
                                       .collection_id = change.collection_id,
                                       .rkey = change.rkey,
                                       .payload = {},
                                       .error = error,
                                       .sqlstate = sqlstate},
                                      system_clock().now());
}

void replay_skipped_changes(store::Session& session) {
  for (const Consumer& consumer : read_consumers(session)) {
    const Projection* projection = find_projection(consumer.name);
    if (projection == nullptr || consumer.role != "live" || consumer.paused) continue;
    for (const ConsumerLane& lane : consumer.lanes) {
      const auto requested = store::lease_requested_letters(
          session, consumer.name, lane.lane, {.owner = lease_owner()}, kLettersOfRound);
      for (const store::RequestedLetter& letter : requested) {
        try {
          replay(session, *projection, consumer, letter);
        } catch (const store::SqlError& error) {
          if (failed_work(error) == FailedWork::Server) throw;
          store::fail_replay(session, letter.id, lease_owner(), error.what(), error.sqlstate());
        }
      }
    }
  }
}

}  // namespace skua::feed
