#include "backfill/repository/unfinished_repositories.hpp"

#include <utility>

namespace skua::backfill {

UnfinishedRepositories::Id UnfinishedRepositories::begin(
    std::unique_ptr<UnfinishedRepository> repository) {
  const std::scoped_lock lock(mutex_);
  repositories_.emplace(++last_, std::move(repository));
  return last_;
}

bool UnfinishedRepositories::add_chunk(Id id, std::size_t bytes, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // A chunk that is larger than the limit waits until no other chunk is pending.
  const auto has_room = [&] { return chunk_bytes_ == 0 || chunk_bytes_ + bytes <= chunk_limit_; };
  if (!room_.wait(lock, stop, has_room)) return false;
  chunk_bytes_ += bytes;
  ++repositories_.at(id)->pending;
  return true;
}

void UnfinishedRepositories::written(Id id, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  chunk_bytes_ -= bytes;
  room_.notify_all();
  release(id);
}

void UnfinishedRepositories::complete(Id id) {
  const std::scoped_lock lock(mutex_);
  release(id);
}

void UnfinishedRepositories::release(Id id) {
  const auto place = repositories_.find(id);
  if (--place->second->pending > 0) return;
  ready_.push_back(std::move(place->second));
  repositories_.erase(place);
  filled_.notify_one();
}

std::vector<std::unique_ptr<UnfinishedRepository>> UnfinishedRepositories::take_ready(
    std::size_t limit, std::chrono::milliseconds wait, std::chrono::milliseconds linger,
    const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!filled_.wait_for(lock, stop, wait, [&] { return !ready_.empty(); })) return {};
  filled_.wait_for(lock, stop, linger,
                   [&] { return ready_.size() >= limit || repositories_.empty(); });
  std::vector<std::unique_ptr<UnfinishedRepository>> taken;
  while (taken.size() < limit && !ready_.empty()) {
    taken.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  return taken;
}

std::size_t UnfinishedRepositories::size() const {
  const std::scoped_lock lock(mutex_);
  return repositories_.size() + ready_.size();
}

}  // namespace skua::backfill
