#include "writer/worker_pool.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "ids/actor_ids.hpp"
#include "writer/router.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer {
namespace {

using event::EventSource;

/// The number of waiting events in live lanes from which the backfill waits.
constexpr std::size_t kDeep = 2'000;

std::unique_ptr<WritePolicy> policy_of(EventSource source, const WorkerServices& services) {
  if (source == EventSource::Live) return std::make_unique<LivePolicy>(services);
  return std::make_unique<BackfillPolicy>(services);
}

}  // namespace

std::size_t writers_at_once() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), kFewestWriters, kMostWriters);
}

WorkerPool::WorkerPool(postgres::Runtime& runtime, WorkerPoolOptions options)
    : runtime_(runtime),
      options_(options),
      names_(std::vector<std::string>(kMostSources)),
      producers_(kMostSources),
      lexicons_(options_.monotonic),
      live_backpressure_(kDeep),
      live_permits_(writers_at_once()),
      backfill_permits_(writers_at_once() + (options_.is_alone ? 1 : 0)) {}

WorkerPool::~WorkerPool() {
  end(false);
}

std::uint32_t WorkerPool::add_source(std::string name, Producer& producer) {
  const auto free = std::find(producers_.begin(), producers_.end(), nullptr);
  if (free == producers_.end()) throw std::length_error("too many sources in one process");
  const auto origin = static_cast<std::uint32_t>(free - producers_.begin());
  names_.set(origin, std::move(name));
  *free = &producer;
  return origin;
}

WorkerPool::Round WorkerPool::round() const {
  Round round;
  round.reserve(workers_.size());
  for (const auto& worker : workers_) round.push_back(worker->rounds());
  return round;
}

bool WorkerPool::is_unused(const Round& round) const {
  for (std::size_t i = 0; i < round.size(); ++i) {
    if (workers_[i]->rounds() == round[i]) return false;
  }
  return true;
}

void WorkerPool::remove_source(std::uint32_t origin) {
  producers_.at(origin) = nullptr;
}

void WorkerPool::start() {
  ids::fill_with_actors(runtime_.database_url, ids_.actors);
  const auto first_producers = static_cast<std::size_t>(
      std::find(producers_.begin(), producers_.end(), nullptr) - producers_.begin());
  services_ = std::unique_ptr<const WorkerServices>(
      new WorkerServices{.runtime = runtime_,
                         .sources = names_,
                         .producers = producers_,
                         .first_producers = first_producers,
                         .ids = ids_,
                         .lexicons = lexicons_,
                         .live_backpressure = live_backpressure_,
                         .metrics = metrics_,
                         .monotonic = options_.monotonic});
  workers_.reserve(kWorkers);
  for (std::size_t index = 0; index < kWorkers; ++index) {
    const bool is_live = index < kWorkers / 2;
    workers_.push_back(std::make_unique<Worker>(
        index, policy_of(is_live ? EventSource::Live : EventSource::Backfill, *services_),
        is_live ? live_permits_ : backfill_permits_, *services_));
  }
}

void WorkerPool::push(event::UnresolvedEvent event) {
  event::Chunk chunk;
  chunk.events.emplace_back().event = std::move(event);
  push(std::move(chunk));
}

void WorkerPool::push(event::Chunk chunk) {
  const std::size_t index = worker_index(chunk.lane(), chunk.did());
  workers_[index]->push(std::move(chunk));
}

std::size_t WorkerPool::queued() const {
  std::size_t total = 0;
  for (const auto& worker : workers_) total += worker->queued();
  return total;
}

const WorkerMetrics& WorkerPool::metrics() const {
  for (std::size_t i = 0; i < workers_.size(); ++i) metrics_.queued.at(i) = workers_[i]->queued();
  return metrics_;
}

void WorkerPool::end(bool streams_are_durable) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const bool is_live = i < kWorkers / 2;
    if (is_live && streams_are_durable) {
      workers_[i]->finish();
    } else {
      workers_[i]->abandon();
    }
  }
  for (const auto& worker : workers_) worker->join();
}

}  // namespace skua::writer
