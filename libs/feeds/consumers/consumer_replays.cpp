#include "consumers/consumer_replays.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "consumers/consumer_replays.sql.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "postgres/connection_string.hpp"
#include "tables/consumer_letters.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers {

namespace {

constexpr std::size_t kLettersOfRound = 100;

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

const char* operation_text(std::int32_t operation) {
  constexpr const char* kTexts[] = {"create", "update", "delete"};
  return kTexts[operation - 1];
}

std::string lease_owner() {
  return postgres::process_name("skua consumers");
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

/// Replays one dead letter, in one transaction.
void replay(postgres::Session& session, const Projection& projection, const Consumer& consumer,
            const tables::RequestedLetter& requested) {
  const tables::ConsumerLetter& letter = requested.letter;
  postgres::Transaction transaction(session);
  const auto lane = session.query_first<LockedLane>(sql::consumers_lock_lane, consumer.id,
                                                    letter.lane, letter.position);
  if (!lane) {
    tables::release_replay(session, requested.id, lease_owner());
  } else if (letter.position < lane->start) {
    tables::resolve_replay(session, requested.id, lease_owner(),
                           "the tables were built after this change");
  } else if (letter.timeline != lane->timeline || !lane->has_change) {
    tables::fail_replay(
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
    tables::resolve_replay(session, requested.id, lease_owner(), "replayed");
  }
  transaction.commit();
}

}  // namespace

std::optional<std::int64_t> write_skipped_change(postgres::Session& session,
                                                 const std::string& consumer, std::int32_t lane,
                                                 std::int64_t position, const std::string& error,
                                                 const ReadLetterEvent& read_event,
                                                 const std::string& sqlstate) {
  const auto found = session.query_first<LoggedChange>(sql::consumers_change, position);
  if (!found) return std::nullopt;
  const LoggedChange& change = *found;
  const LetterEvent event = read_event ? read_event(session, position) : LetterEvent();
  return tables::write_consumer_letter(session,
                                       {.consumer = consumer,
                                        .lane = lane,
                                        .timeline = change.timeline,
                                        .position = position,
                                        .operation = operation_text(change.operation),
                                        .actor_id = change.actor_id,
                                        .collection_id = change.collection_id,
                                        .rkey = change.rkey,
                                        .payload = bytes_of(event.event),
                                        .short_payload = bytes_of(event.keys),
                                        .error = error,
                                        .sqlstate = sqlstate},
                                       system_clock().now());
}

void replay_skipped_changes(postgres::Session& session, const Workload& workload) {
  for (const Consumer& consumer : read_consumers(session)) {
    if (consumer.kind != "projection" || consumer.role != "live" || consumer.paused) continue;
    if (!workload.takes(consumer.id, consumer.is_own)) continue;
    const ProjectionRef projection = used_projection(session, consumer.name);
    if (projection == nullptr) continue;
    for (const ConsumerLane& lane : consumer.lanes) {
      const auto requested = tables::lease_requested_letters(
          session, consumer.name, lane.lane, {.owner = lease_owner()}, kLettersOfRound);
      for (const tables::RequestedLetter& letter : requested) {
        try {
          replay(session, *projection, consumer, letter);
        } catch (const postgres::SqlError& error) {
          const FailedWork failed = consumer.is_own ? failed_own_work(error) : failed_work(error);
          if (failed == FailedWork::Server) throw;
          tables::fail_replay(session, letter.id, lease_owner(), error.what(), error.sqlstate());
        }
      }
    }
  }
}

}  // namespace skua::consumers
