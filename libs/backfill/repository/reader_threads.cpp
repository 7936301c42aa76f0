#include "backfill/repository/reader_threads.hpp"

#include <limits>

namespace skua::backfill {

ReaderThreads::ReaderThreads(std::size_t threads)
    : queue_(std::numeric_limits<std::size_t>::max()) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

ReaderThreads::~ReaderThreads() {
  stop();
}

void ReaderThreads::stop() {
  queue_.close();
  stop_.request_stop();
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ReaderThreads::run() {
  while (!stop_.stop_requested()) {
    auto next = queue_.pop();
    if (!next) return;
    next->resume();
  }
}

}  // namespace skua::backfill
