#include "writer/bulk_pool.hpp"

#include <string>
#include <utility>

#include "writer/router.hpp"
#include "writer/worker_pool.hpp"

namespace skua::writer {

BulkPool::BulkPool(BulkServices& services, bool is_alone)
    : turns_(writers_at_once() + (is_alone ? 1 : 0)) {
  for (const auto type : records::kRecordTypes) {
    for (std::size_t number = 0; number < kWorkersPerLane; ++number) {
      const std::string name =
          "backfill " + std::string(records::name_of(type)) + " " + std::to_string(number);
      workers_.push_back(std::make_unique<BulkWorker>(name, turns_, services));
    }
  }
}

void BulkPool::push(event::UnresolvedBulk chunk) {
  const event::Lane lane{event::EventSource::Live, chunk.type};
  const std::size_t index = worker_index(lane, chunk.did);
  workers_[index]->push(std::move(chunk));
}

void BulkPool::finish() {
  for (const auto& worker : workers_) worker->finish();
  for (const auto& worker : workers_) worker->join();
}

void BulkPool::abandon() {
  for (const auto& worker : workers_) worker->abandon();
  for (const auto& worker : workers_) worker->join();
}

}  // namespace skua::writer
