#include "writer/worker.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/log.hpp"
#include "base/seeded_hash.hpp"
#include "resolve/worth_copying.hpp"
#include "store/sqlstate.hpp"
#include "writer/dead_letter.hpp"
#include "writer/purge.hpp"
#include "writer/record_id.hpp"
#include "writer/router.hpp"

namespace skua::writer {
namespace {

using std::chrono::milliseconds;

/// How long a group waits for company: at the network's rate a commit costs more than its rows.
constexpr milliseconds kLinger{5};
/// How long while so many frames are in flight: their rows are late anyway, and the server's part
/// of the cores, which decoding then lacks, is the smaller the larger groups are.
constexpr milliseconds kCrowdedLinger{500};
constexpr std::size_t kCrowd = 4'000;
constexpr milliseconds kIdle{500};

std::string lane_name(event::Lane lane, std::size_t number) {
  std::string name = lane.source == event::EventSource::Live ? "live " : "backfill ";
  name += records::name_of(lane.type);
  return name + " " + std::to_string(number);
}

}  // namespace

Worker::Worker(event::Lane lane, std::size_t number, WriteTurns& turns, WorkerServices& services)
    : lane_(lane),
      name_(lane_name(lane, number)),
      turns_(turns),
      services_(services),
      queue_(std::numeric_limits<std::size_t>::max()),
      session_({services.database_url, name_, services.counters}),
      bulk_(services.writer.sources()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Worker::~Worker() {
  abandon();
  queue_.close();
}

void Worker::push(event::UnresolvedEvent event) {
  if (lane_.source == event::EventSource::Live) services_.live_backpressure.add(1);
  queue_.push(std::move(event));
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run(const std::stop_token& stop) {
  // A worker that is told to stop while it waits for events must wake.
  const std::stop_callback wake(stop, [this] { queue_.close(); });
  try {
    Batch batch;
    while (!stop.stop_requested()) {
      take(batch);
      if (batch.empty()) {
        if (queue_.closed() && queue_.size() == 0) return;
        continue;
      }
      if (lane_.source == event::EventSource::Backfill) {
        services_.live_backpressure.wait_while_deep(stop);
      }
      write(batch, stop);
      if (!batch.empty()) {
        // All that is left belongs to busy accounts: give their holder a moment.
        std::unique_lock lock(wait_mutex_);
        wait_.wait_for(lock, stop, kLinger, [] { return false; });
      }
    }
  } catch (const std::exception& error) {
    // A wrong statement of ours, or memory that ran out: going on would only hide it.
    services_.on_defect(name_ + ": " + error.what());
  }
}

void Worker::take(Batch& batch) {
  if (batch.empty()) fill(batch, kIdle);
  if (batch.empty() || batch.size() >= kGroup) return;
  queue_.wait_for_many(kGroup - batch.size(), is_crowded() ? kCrowdedLinger : kLinger);
  fill(batch, milliseconds::zero());
}

bool Worker::is_crowded() const {
  return std::any_of(services_.in_flight.begin(), services_.in_flight.end(),
                     [](const InFlightList* list) { return list->unfinished() >= kCrowd; });
}

void Worker::fill(Batch& batch, milliseconds wait) {
  if (batch.size() >= kGroup) return;
  std::vector<event::UnresolvedEvent> taken;
  queue_.pop_some(taken, kGroup - batch.size(), wait);
  if (lane_.source == event::EventSource::Live) services_.live_backpressure.remove(taken.size());
  for (auto& event : taken) batch.push_back({std::move(event)});
}

void Worker::write(Batch& batch, const std::stop_token& stop) {
  auto turn = turns_.wait(stop);
  if (!turn) return;
  fill(batch, milliseconds::zero());  // what came while it waited
  Batch busy;
  std::size_t group = batch.size();
  while (!batch.empty()) {
    const std::size_t size = std::min(group, batch.size());
    try {
      write_front(batch, size, busy);
      group = batch.size();
    } catch (const store::DataError& poison) {
      // Halve until the event that the database refuses stands alone.
      if (size > 1) {
        group = size / 2;
        continue;
      }
      try {
        dead_letter_front(batch, poison);
        group = batch.size();
      } catch (const store::ServerError& error) {
        if (!session_.back_off(error, turns_, turn, stop)) return;
      }
    } catch (const store::ServerError& error) {
      if (error.sqlstate() == store::kOutOfMemory) group = std::max<std::size_t>(size / 2, 1);
      if (!session_.back_off(error, turns_, turn, stop)) return;
    }
  }
  batch = std::move(busy);
}

void Worker::write_front(Batch& batch, std::size_t size, Batch& busy) {
  const std::span<event::ResolvedEvent> front(batch.data(), size);
  store::Session& connection = session_.get();
  const std::uint64_t nuls_before = connection.nuls_removed();
  resolve::Resolver resolver(connection, services_.ids, services_.server_clock);
  for (const resolve::Conflict& conflict : resolver.resolve(front)) {
    // It cannot become a row, but its bytes are kept: the live writer makes a dead letter of it.
    reject(front[conflict.index], conflict.reason);
  }
  Counters& counters = services_.counters;
  if (write_in_bulk(connection, front)) {
    counters.transactions += 1;
    counters.nuls_removed += connection.nuls_removed() - nuls_before;
    session_.succeeded();
    finish_front(batch, size, {}, busy);
    return;
  }
  const LiveWriter::Outcome outcome =
      services_.writer.write(connection, front, services_.server_clock.now());

  // Before the batch is done with: after a crash its events come again.
  for (const Purge& purge : outcome.purges) counters.rows += purge_account(connection, purge);
  counters.transactions += 1;
  counters.rows += outcome.rows;
  counters.unchanged += outcome.unchanged;
  counters.dead_letters += outcome.dead_letters;
  counters.set_aside += outcome.busy.size();
  counters.nuls_removed += connection.nuls_removed() - nuls_before;
  session_.succeeded();
  finish_front(batch, size, outcome.busy, busy);
}

bool Worker::write_in_bulk(store::Session& connection,
                           std::span<const event::ResolvedEvent> front) {
  if (lane_.source == event::EventSource::Live || front.size() < resolve::kWorthCopying) {
    return false;
  }
  std::vector<const event::ResolvedEvent*> events;
  boost::unordered_flat_set<RecordId> keys;
  events.reserve(front.size());
  for (const event::ResolvedEvent& event : front) {
    events.push_back(&event);
    if (std::holds_alternative<event::Rejection>(event.event.body)) continue;
    const auto* change = std::get_if<event::RecordChange>(&event.event.body);
    if (change == nullptr || change->operation == event::Operation::Delete) return false;
    // What came twice is folded by the live writer.
    if (!keys.insert(RecordId::of(event)).second) return false;
  }
  // As the sources of whole repositories give them.
  std::stable_sort(events.begin(), events.end(), [](const auto* one, const auto* other) {
    return one->actor_id < other->actor_id;
  });
  const resolve::PostClaims::HeldAll posts(services_.ids.post_claims,
                                           resolve::posts_written_by(events));
  const BulkWriter::Outcome outcome = bulk_.write(connection, events, services_.server_clock.now());
  services_.counters.rows += outcome.rows;
  services_.counters.unchanged += outcome.unchanged;
  services_.counters.dead_letters += outcome.dead_letters;
  return true;
}

void Worker::dead_letter_front(Batch& batch, const store::SqlError& error) {
  try {
    services_.writer.write_dead_letter(session_.get(), batch.front(), error.what(),
                                       error.sqlstate(), services_.server_clock.now());
  } catch (const store::DataError& again) {
    throw store::DefectError(std::string("a dead letter was refused: ") + again.what(),
                             again.sqlstate());
  }
  services_.counters.dead_letters += 1;
  logger("writer")->warn("did={} seq={} lane={}: dead-lettered: {}", batch.front().event.did,
                         batch.front().event.seq, name_, error.what());
  Batch none;
  finish_front(batch, 1, {}, none);
}

void Worker::finish_front(Batch& batch, std::size_t size,
                          const std::vector<std::size_t>& busy_indices, Batch& busy) {
  // By list: most often there is one.
  std::vector<std::pair<InFlightList*, std::vector<InFlightList::Ticket>>> done;
  const auto finished = [&](const event::UnresolvedEvent& event) {
    InFlightList* list = services_.in_flight.at(event.origin);
    auto place = std::find_if(done.begin(), done.end(),
                              [&](const auto& tickets) { return tickets.first == list; });
    if (place == done.end()) {
      place = done.insert(done.end(), {list, {}});
      place->second.reserve(size);
    }
    place->second.push_back(event.ticket);
    if (!is_canonical(event)) services_.counters.not_canonical += 1;
  };
  std::size_t count = 0;
  auto next_busy = busy_indices.begin();
  for (std::size_t i = 0; i < size; ++i) {
    if (next_busy != busy_indices.end() && *next_busy == i) {
      busy.push_back(std::move(batch[i]));
      ++next_busy;
    } else {
      finished(batch[i].event);
      ++count;
    }
  }
  batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(size));
  if (!busy_indices.empty()) {
    // What follows of a busy account waits behind what was set aside of it.
    boost::unordered_flat_set<std::string_view, SeededHash> accounts;
    for (const event::ResolvedEvent& event : busy) accounts.insert(event.event.did);
    const auto follows = std::stable_partition(
        batch.begin(), batch.end(),
        [&](const event::ResolvedEvent& event) { return !accounts.contains(event.event.did); });
    Batch waiting(std::make_move_iterator(follows), std::make_move_iterator(batch.end()));
    batch.erase(follows, batch.end());
    accounts.clear();
    for (auto& event : waiting) busy.push_back(std::move(event));
  }
  services_.counters.events += count;
  for (const auto& [list, tickets] : done) list->finish(tickets, services_.clock.now());
}

}  // namespace skua::writer
