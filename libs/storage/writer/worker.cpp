#include "writer/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/log.hpp"
#include "base/seeded_hash.hpp"
#include "ids/resolver.hpp"
#include "postgres/sql_error.hpp"
#include "writer/dead_letter.hpp"

namespace skua::writer {
namespace {

using std::chrono::milliseconds;
/// The clock is for metrics only.
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kIdle{500};
/// The time that a worker waits if only events of busy accounts are left.
constexpr milliseconds kBusy{5};

LatencyHistogram::Duration microseconds_of(SteadyClock::duration duration) {
  return std::chrono::duration_cast<LatencyHistogram::Duration>(duration);
}

/// Returns the number of the first events, at most `size`, whose producers share their counters.
std::size_t share_counters(std::span<const TakenEvent> events, std::size_t size,
                           const WorkerServices& services) {
  const auto counters_of = [&](const TakenEvent& taken) {
    return &services.producer_of(*taken.chunk).counters();
  };
  const Counters* first = counters_of(events.front());
  std::size_t same = 1;
  while (same < size && counters_of(events[same]) == first) ++same;
  return same;
}

/// Moves the events of accounts in `busy` from `events` to the end of `busy`.
template <class Events>
void move_followers(Events& events, Events& busy) {
  boost::unordered_flat_set<std::string_view, SeededHash> accounts;
  for (const TakenEvent& taken : busy) accounts.insert(taken.event->event.did);
  const auto follows = std::stable_partition(
      events.begin(), events.end(),
      [&](const TakenEvent& taken) { return !accounts.contains(taken.event->event.did); });
  busy.insert(busy.end(), follows, events.end());
  events.erase(follows, events.end());
}

}  // namespace

std::uint64_t Worker::Traits::key(const event::Chunk& chunk) {
  return chunk.repository != 0 ? 0 : seeded_hash(chunk.did());
}

std::size_t Worker::Traits::cost(const event::Chunk& chunk) {
  if (chunk.repository != 0) return chunk.bytes;
  // A value in jsonb takes as long as this number of bytes of a record.
  constexpr std::size_t kValue = 8;
  std::size_t cost = 0;
  for (const event::ResolvedEvent& event : chunk.events) {
    const auto& body = event.event.body;
    if (const auto* change = std::get_if<event::RecordChange>(&body)) {
      cost += change->block.size() + kValue * change->values;
    } else if (const auto* rejection = std::get_if<event::Rejection>(&body)) {
      cost += rejection->payload.size();
    }
  }
  return cost;
}

Worker::Worker(std::size_t index, std::unique_ptr<WritePolicy> policy, WritePermits& permits,
               const WorkerServices& services)
    : index_(index),
      name_(worker_name(index)),
      policy_(std::move(policy)),
      permits_(permits),
      services_(services),
      session_(services_.runtime.database_url, name_),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Worker::~Worker() {
  abandon();
  queue_.close();
}

void Worker::push(event::Chunk chunk) {
  policy_->queued(chunk.events.size());
  chunk.queued_at = SteadyClock::now();
  queue_.push(std::move(chunk));
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run(const std::stop_token& stop) {
  // This callback wakes a worker that waits for events when a stop is requested.
  const std::stop_callback wake(stop, [this] { queue_.close(); });
  try {
    while (!stop.stop_requested()) {
      ++rounds_;
      take();
      if (taken_.empty()) {
        if (queue_.closed() && queue_.size() == 0) return;
        continue;
      }
      const std::optional<Events> left = write(stop);
      if (!left) return;
      report(*left);
      if (!left->empty()) pause(stop);
    }
  } catch (const std::exception& error) {
    // Either a statement is wrong, or memory ran out. To continue would hide the error.
    services_.runtime.fatal(name_ + ": " + error.what());
  }
}

void Worker::pause(const std::stop_token& stop) {
  std::unique_lock lock(wait_mutex_);
  wait_.wait_for(lock, stop, kBusy, [] { return false; });
}

void Worker::take() {
  if (taken_.empty()) fill(kIdle);
  if (taken_.empty() || has_batch()) return;
  queue_.wait_for_many(policy_->batch_size() - newly_taken_.weight, policy_->linger());
  fill(milliseconds::zero());
}

bool Worker::has_batch() const {
  return newly_taken_.weight >= policy_->batch_size() || newly_taken_.cost >= policy_->batch_cost();
}

void Worker::fill(milliseconds wait) {
  if (has_batch()) return;
  const std::size_t before = taken_.size();
  const Queue::Room room{policy_->batch_size() - newly_taken_.weight,
                         policy_->batch_cost() - newly_taken_.cost};
  const Queue::Room more = queue_.pop_some(taken_, room, busy_, wait);
  newly_taken_.weight += more.weight;
  newly_taken_.cost += more.cost;
  policy_->taken(more.weight);
  const auto now = SteadyClock::now();
  for (std::size_t i = before; i < taken_.size(); ++i) {
    services_.metrics.queue_wait.add(microseconds_of(now - taken_[i].queued_at));
  }
}

std::optional<WritePermits::Permit> Worker::wait_for_permit(const std::stop_token& stop) {
  policy_->wait_for_priority(stop);
  auto permit = permits_.wait(stop);
  if (stop.stop_requested()) return std::nullopt;
  return permit;
}

std::optional<Worker::Events> Worker::write(const std::stop_token& stop) {
  std::optional<WritePermits::Permit> permit = wait_for_permit(stop);
  if (!permit) return std::nullopt;
  fill(milliseconds::zero());  // takes the chunks that came while the worker waited for the permit
  Events events;
  for (event::Chunk& chunk : taken_) {
    for (event::ResolvedEvent& event : chunk.events) events.push_back({&event, &chunk});
  }
  Events busy;
  std::size_t size = policy_->batch_size();
  while (!events.empty()) {
    if (!permit) permit = wait_for_permit(stop);
    if (!permit) return std::nullopt;
    size = std::min(size, events.size());
    size = share_counters(events, size, services_);
    Counters& counters = services_.producer_of(*events.front().chunk).counters();
    try {
      try {
        write_batch(events, size, busy);
        size = std::min(2 * size, policy_->batch_size());
      } catch (const postgres::DataError& refused) {
        // The size is halved until the event that the database refuses is alone in its batch. After
        // that event, the size doubles with each batch: if each of many such events were followed
        // by a full batch, that batch would often be written and rolled back.
        if (size > 1) {
          size /= 2;
        } else {
          dead_letter(events.front(), refused);
          events.erase(events.begin());
          size = 2;
        }
      }
      permit.reset();
    } catch (const postgres::ServerError& error) {
      permit.reset();
      counters.retries += 1;
      if (error.sqlstate() == postgres::kOutOfMemory) size = std::max<std::size_t>(size / 2, 1);
      if (!session_.back_off(error, stop)) return std::nullopt;
    }
  }
  return busy;
}

void Worker::write_batch(Events& events, std::size_t size, Events& busy) {
  const auto began_at = SteadyClock::now();
  const std::span<const TakenEvent> batch(events.data(), size);
  postgres::Session& connection = session_.get();
  const std::uint64_t nuls_before = connection.nuls_removed();
  std::vector<event::ResolvedEvent*> unresolved;
  unresolved.reserve(size);
  for (const TakenEvent& taken : batch) unresolved.push_back(taken.event);
  services_.lexicons.check(connection, unresolved);
  ids::Resolver resolver(connection, services_.ids, services_.runtime.clocks.server);
  for (const ids::Conflict& conflict : resolver.resolve(unresolved)) {
    // The event cannot become a row. The writer makes a dead letter with the bytes of the event.
    reject(*unresolved[conflict.index], conflict.reason);
  }
  const Written written = policy_->write(connection, batch);
  session_.succeeded();
  services_.metrics.transaction.add(microseconds_of(SteadyClock::now() - began_at));
  services_.metrics.finished.at(index_) += size - written.busy.size();

  Counters& counters = services_.producer_of(*batch.front().chunk).counters();
  counters.transactions += 1;
  counters.rows += written.rows;
  counters.unchanged += written.unchanged;
  counters.dead_letters += written.dead_letters;
  counters.set_aside += written.busy.size();
  counters.nuls_removed += connection.nuls_removed() - nuls_before;
  counters.events += size - written.busy.size();
  auto next_busy = written.busy.begin();
  for (std::size_t i = 0; i < size; ++i) {
    if (next_busy != written.busy.end() && *next_busy == i) {
      busy.push_back(batch[i]);
      ++next_busy;
    } else if (!is_canonical(batch[i].event->event)) {
      counters.not_canonical += 1;
    }
  }
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(size));
  if (!written.busy.empty()) move_followers(events, busy);
}

void Worker::dead_letter(const TakenEvent& taken, const postgres::SqlError& error) {
  const event::ResolvedEvent& event = *taken.event;
  try {
    write_dead_letter(session_.get(), services_.sources, event, error,
                      services_.runtime.clocks.server.now());
  } catch (const postgres::DataError& second) {
    throw postgres::DefectError(std::string("a dead letter was refused: ") + second.what(),
                                second.sqlstate());
  }
  Counters& counters = services_.producer_of(*taken.chunk).counters();
  counters.events += 1;
  counters.dead_letters += 1;
  logger("writer")->warn("did={} seq={} lane={}: dead-lettered: {}", event.event.did,
                         event.event.seq, name_, error.what());
}

void Worker::report(const Events& left) {
  boost::unordered_flat_set<const event::Chunk*> unfinished;
  for (const TakenEvent& taken : left) unfinished.insert(taken.chunk);
  // The chunks are grouped by producer. Usually there is only one producer.
  std::vector<std::pair<Producer*, std::vector<const event::Chunk*>>> written;
  for (const event::Chunk& chunk : taken_) {
    if (unfinished.contains(&chunk)) continue;
    Producer* producer = &services_.producer_of(chunk);
    auto place = std::find_if(written.begin(), written.end(),
                              [&](const auto& entry) { return entry.first == producer; });
    if (place == written.end()) place = written.insert(place, {producer, {}});
    place->second.push_back(&chunk);
  }
  for (const auto& [producer, chunks] : written) producer->written(chunks);
  std::vector<event::Chunk> kept;
  for (event::Chunk& chunk : taken_) {
    if (unfinished.contains(&chunk)) kept.push_back(std::move(chunk));
  }
  taken_ = std::move(kept);
  newly_taken_ = {0, 0};
  busy_.clear();
  for (const event::Chunk& chunk : taken_) busy_.emplace(Traits::key(chunk), true);
}

}  // namespace skua::writer
