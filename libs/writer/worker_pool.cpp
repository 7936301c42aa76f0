#include "writer/worker_pool.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "writer/router.hpp"

namespace skua::writer {

std::size_t writers_at_once() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), kFewestWriters, kMostWriters);
}

WorkerPool::WorkerPool(WorkerServices& services)
    : live_turns_(writers_at_once()), backfill_turns_(writers_at_once()) {
  workers_.reserve(kWorkers);
  for (const auto source : {event::EventSource::Live, event::EventSource::Backfill}) {
    WriteTurns& turns = source == event::EventSource::Live ? live_turns_ : backfill_turns_;
    for (const auto type : records::kRecordTypes) {
      for (std::size_t number = 0; number < kWorkersPerLane; ++number) {
        workers_.push_back(
            std::make_unique<Worker>(event::Lane{source, type}, number, turns, services));
      }
    }
  }
}

void WorkerPool::push(event::UnresolvedEvent event) {
  const std::size_t index = worker_index(event.lane(), event.did);
  workers_[index]->push(std::move(event));
}

std::size_t WorkerPool::queued() const {
  std::size_t total = 0;
  for (const auto& worker : workers_) total += worker->queued();
  return total;
}

void WorkerPool::finish() {
  for (const auto& worker : workers_) worker->finish();
  for (const auto& worker : workers_) worker->join();
}

void WorkerPool::abandon() {
  for (const auto& worker : workers_) worker->abandon();
  for (const auto& worker : workers_) worker->join();
}

}  // namespace skua::writer
