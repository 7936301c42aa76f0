#include "writer/live_policy.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "writer/account_removal.hpp"
#include "writer/purge.hpp"

namespace skua::writer {
namespace {

using std::chrono::milliseconds;

/// At the network's rate a commit costs more than its rows. With 5 ms, PostgreSQL needs a third
/// more CPU at 2,000 events a second, and the slowest commits take twice as long (hour_bench).
constexpr milliseconds kLinger{20};
/// Larger batches leave more of the cores to the decoders.
constexpr milliseconds kCrowdedLinger{500};

}  // namespace

Written write_events(store::Session& session, const LiveWriter& writer, LiveWriter::Batch batch,
                     Timestamp now) {
  LiveWriter::Outcome outcome = writer.write(session, batch, now);
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

Written LivePolicy::write(store::Session& session, std::span<const TakenEvent> batch) {
  std::vector<const event::ResolvedEvent*> events;
  events.reserve(batch.size());
  for (const TakenEvent& taken : batch) events.push_back(taken.event);
  return write_events(session, writer_, events, services_.runtime.clocks.server.now());
}

}  // namespace skua::writer
