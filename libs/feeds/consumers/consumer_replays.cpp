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
#include "postgres/connection_string.hpp"
#include "tables/consumer_letters.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers {

namespace {

/// Returns the commands with which an operator gives a webhook another URL or another secret.
std::string add_again(const Consumer& consumer) {
  std::int64_t first = consumer.lanes.front().pos;
  for (const ConsumerLane& lane : consumer.lanes) first = std::min(first, lane.pos);
  return fmt::format(
      "`skua consumers remove {0}`, then `skua consumers add {0} --webhook URL --from {1}` with "
      "its "
      "other options",
      consumer.name, first);
}

/// Tells the operator how to correct the receiver.
std::string receiver_cure(const Consumer& consumer, FailureCause cause) {
  const std::string& url = consumer.url;
  switch (cause) {
    case FailureCause::Unreachable:
      return fmt::format(
          "Start the receiver of {}, or correct its port or the firewall. For another URL: {}.",
          url, add_again(consumer));
    case FailureCause::Name:
      return fmt::format("Check /etc/resolv.conf and the host name in {}. For another URL: {}.",
                         url, add_again(consumer));
    case FailureCause::Tls:
      return fmt::format(
          "Renew the certificate of {}, or name a file with it: `skua serve --ca-file FILE`.", url);
    case FailureCause::Slow:
      return fmt::format(
          "Look at the log of the receiver of {}. If it needs more time: `skua serve "
          "--webhook-timeout DURATION`.",
          url);
    case FailureCause::Refused:
      return fmt::format(
          "Give the receiver of {} the secret that `skua consumers add` printed, and check its "
          "clock. If the secret is lost, make another one: {}.",
          url, add_again(consumer));
    case FailureCause::Address:
      return fmt::format(
          "Correct the receiver of {}, which does not accept POST there. For "
          "another URL: {}.",
          url, add_again(consumer));
    case FailureCause::Busy:
      return fmt::format("Look at the log of the receiver of {}, or of the proxy before it.", url);
    case FailureCause::Expiry:
      return "Look at the log of `skua serve`: the process ended during a request.";
    case FailureCause::Change:
    case FailureCause::Tables:
    case FailureCause::Lock:
      break;
  }
  return fmt::format("Look at the log of the receiver of {}: it refuses changes.", url);
}

/// Tells what the consumer does after the same change has failed too often.
std::string policy_text(const Consumer& consumer) {
  const std::string& policy = consumer.policy;
  if (policy == "skip") return "is left out as a dead letter";
  if (policy == "block_key") {
    return "is a dead letter, and later changes of its account wait";
  }
  return policy == "block_lane" ? "stops its lane" : "stops the consumer";
}

/// Tells the operator of a pull consumer how to correct its program.
const char* program_cure(FailureCause cause) {
  return cause == FailureCause::Expiry
             ? "Look at the log of the program that fetches the changes: it ended before it "
               "acknowledged them, or it needs a longer lease (`lease_seconds`)."
             : "Look at the log of the program that fetches the changes.";
}

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

std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane) {
  const bool counts = lane.cause == FailureCause::Change || lane.cause == FailureCause::Slow ||
                      lane.cause == FailureCause::Expiry;
  const std::string until =
      counts
          ? fmt::format(
                "Skua tries again; a change that fails `max_attempts` times {} (policy {}).",
                policy_text(consumer), consumer.policy)
          : "Until then the changes wait in the log, and Skua tries again at least once a minute.";
  if (lane.cause == FailureCause::Tables) {
    std::string cure = "Remove the cause, such as a missing right: Skua tries again by itself.";
    if (consumer.kind == "projection") {
      cure +=
          fmt::format(" `skua consumers rebuild {}` builds its tables from the records instead.",
                      consumer.name);
    }
    return cure;
  }
  if (consumer.kind == "projection") {
    return "Look at the error: it may be the disk, a right or a lock. " + until;
  }
  const std::string cure =
      consumer.kind == "webhook" ? receiver_cure(consumer, lane.cause) : program_cure(lane.cause);
  return fmt::format("{} {} To skip all changes that wait: `skua consumers reset {} --from live`.",
                     cure, until, consumer.name);
}

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

void replay_skipped_changes(postgres::Session& session) {
  for (const Consumer& consumer : read_consumers(session)) {
    const Projection* projection = find_projection(consumer.name);
    if (projection == nullptr || consumer.role != "live" || consumer.paused) continue;
    for (const ConsumerLane& lane : consumer.lanes) {
      const auto requested = tables::lease_requested_letters(
          session, consumer.name, lane.lane, {.owner = lease_owner()}, kLettersOfRound);
      for (const tables::RequestedLetter& letter : requested) {
        try {
          replay(session, *projection, consumer, letter);
        } catch (const postgres::SqlError& error) {
          if (failed_work(error) == FailedWork::Server) throw;
          tables::fail_replay(session, letter.id, lease_owner(), error.what(), error.sqlstate());
        }
      }
    }
  }
}

}  // namespace skua::consumers
