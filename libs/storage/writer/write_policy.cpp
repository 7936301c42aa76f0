#include "writer/write_policy.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "writer/account_changes.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

namespace {

using std::chrono::milliseconds;

/// At the event rate of the network, a commit costs more than its rows. With 5 ms, PostgreSQL needs
/// a third more CPU at 2,000 events a second, and the slowest commits take twice as long
/// (hour_bench).
constexpr milliseconds kLinger{20};
/// Larger batches leave the decoders a larger part of the cores.
constexpr milliseconds kCrowdedLinger{500};

using event::ResolvedEvent;
using Events = std::vector<const ResolvedEvent*>;

Events events_of(std::span<const TakenEvent> batch) {
  Events events;
  events.reserve(batch.size());
  for (const TakenEvent& taken : batch) events.push_back(taken.event);
  return events;
}

/// Whether the BulkWriter can write these events, which requires that each event creates or
/// replaces another record. The chunks of jobs always satisfy this, because a repository has each
/// key once.
bool can_copy(std::span<const TakenEvent> batch) {
  boost::unordered_flat_set<RecordKey> keys;
  for (const TakenEvent& taken : batch) {
    if (taken.chunk->lease_number != 0) continue;
    const ResolvedEvent& event = *taken.event;
    if (std::holds_alternative<event::Rejection>(event.event.body)) continue;
    const auto* change = std::get_if<event::RecordChange>(&event.event.body);
    if (change == nullptr || change->operation == event::Operation::Delete) return false;
    if (!keys.insert(key_of(event)).second) return false;
  }
  return true;
}

void know_posts(ids::KnownPosts& known, const Events& posts) {
  for (const ResolvedEvent* post : posts) {
    known.insert({post->actor_id, post->rkey_number},
                 ids::KnownPosts::hash_of(post->change().cid->digest));
  }
}

}  // namespace

Written write_events(postgres::Session& session, const RowWriter& writer, RowWriter::Batch batch,
                     Timestamp now, ids::KnownPosts& known) {
  RowWriter::Outcome outcome = writer.write(session, batch, now);
  know_posts(known, outcome.first_versions);
  Written written{outcome.rows, outcome.unchanged, outcome.dead_letters, std::move(outcome.busy)};
  std::size_t purged = 0;
  for (const std::string& did : outcome.purges) {
    const PurgeStep step = purge_step(session, did, kRowsOfRemoval - purged);
    purged += step.rows;
    if (!step.is_done) break;
  }
  written.rows += purged;
  return written;
}

milliseconds LivePolicy::linger() const {
  const std::span producers(services_.producers.data(), services_.first_producers);
  const bool crowded = std::any_of(producers.begin(), producers.end(),
                                   [](const Producer* producer) { return producer->is_crowded(); });
  return crowded ? kCrowdedLinger : kLinger;
}

Written LivePolicy::write(postgres::Session& session, std::span<const TakenEvent> batch) {
  std::vector<const event::ResolvedEvent*> events;
  events.reserve(batch.size());
  for (const TakenEvent& taken : batch) events.push_back(taken.event);
  return write_events(session, writer_, events, services_.runtime.clocks.server.now(),
                      services_.ids.posts);
}

std::chrono::milliseconds BackfillPolicy::linger() const {
  return std::chrono::milliseconds(100);
}

Written BackfillPolicy::write(postgres::Session& session, std::span<const TakenEvent> batch) {
  if (can_copy(batch)) return copy(session, batch);
  return write_events(session, single_, events_of(batch), services_.runtime.clocks.server.now(),
                      services_.ids.posts);
}

Written BackfillPolicy::copy(postgres::Session& session, std::span<const TakenEvent> batch) {
  std::vector<TakenEvent> sorted(batch.begin(), batch.end());
  // The events of an account must be adjacent. The events of repositories already are.
  if (batch.front().chunk->lease_number == 0) {
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& one, const auto& other) {
      return one.event->actor_id < other.event->actor_id;
    });
  }
  const Events events = events_of(sorted);
  std::vector<std::int64_t> lease_numbers;
  lease_numbers.reserve(sorted.size());
  for (const TakenEvent& taken : sorted) lease_numbers.push_back(taken.chunk->lease_number);

  const ids::PostClaims::HeldAll posts(services_.ids.post_claims, ids::posts_written_by(events));
  const Timestamp now = services_.runtime.clocks.server.now();
  const Timestamp start = services_.monotonic.now();
  const BulkWriter::Outcome outcome = bulk_.write(session, events, now, lease_numbers);
  size_.took(events.size(), services_.monotonic.now() - start);
  know_posts(services_.ids.posts, outcome.first_versions);
  return {outcome.rows, outcome.unchanged, outcome.dead_letters, {}};
}

}  // namespace skua::writer
