// The time of PostgreSQL for the live writer's statements without any other work; see
// bench/README.md.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "ids/resolver.hpp"
#include "postgres/session.hpp"
#include "report.hpp"
#include "transport/capture.hpp"
#include "writer/router.hpp"
#include "writer/row_writer.hpp"
#include "writer/write_policy.hpp"

namespace {

using namespace skua;

using Batch = std::vector<event::ResolvedEvent>;

/// The events of one worker of the pool, divided into batches of the worker's size.
using Queue = std::deque<Batch>;

struct Work {
  std::vector<Queue> queues = std::vector<Queue>(writer::kWorkers);
  std::size_t events = 0;
};

Work read_work(const std::string& capture) {
  Work work;
  transport::CaptureReader reader(capture);
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  while (true) {
    const auto next = reader.next();
    if (next.has_error() || !*next) break;
    Bytes frame((*next)->begin(), (*next)->end());
    if (decoder.decode(frame, decoded).has_error()) continue;
    event::fold_commit(decoded.events);
    for (event::UnresolvedEvent& event : decoded.events) {
      Queue& queue = work.queues[writer::worker_index({event.source, event.type}, event.did)];
      if (queue.empty() || queue.back().size() == writer::LivePolicy::kBatch) {
        queue.emplace_back().reserve(writer::LivePolicy::kBatch);
      }
      queue.back().push_back({std::move(event)});
      ++work.events;
    }
  }
  return work;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Distributes batches so that those of one queue are written one after another, as a worker does.
class Dispenser {
 public:
  explicit Dispenser(std::vector<Queue>& queues) : queues_(queues), taken_(queues.size()) {}

  /// The next batch of the longest queue that no thread is using; false: nothing is left for this
  /// thread.
  bool take(std::size_t& queue, Batch& batch) {
    const std::scoped_lock lock(mutex_);
    std::size_t longest = queues_.size();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (taken_[i] || queues_[i].empty()) continue;
      if (longest == queues_.size() || queues_[i].size() > queues_[longest].size()) longest = i;
    }
    if (longest == queues_.size()) return false;
    queue = longest;
    batch = std::move(queues_[queue].front());
    queues_[queue].pop_front();
    taken_[queue] = true;
    return true;
  }
  void give_back(std::size_t queue) {
    const std::scoped_lock lock(mutex_);
    taken_[queue] = false;
  }

 private:
  std::mutex mutex_;
  std::vector<Queue>& queues_;
  std::vector<bool> taken_;
};

int run(const std::string& capture, const std::string& database_url, std::size_t connections) {
  Work work = read_work(capture);
  Dispenser dispenser(work.queues);
  ids::SharedIds ids;
  const writer::RowWriter writer(writer::SourceNames("bench:write"));
  std::atomic<std::size_t> rows{0};
  std::atomic<std::size_t> transactions{0};

  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < connections; ++i) {
      threads.emplace_back([&] {
        postgres::Session session(database_url, "write_bench");
        std::size_t queue = 0;
        Batch batch;
        while (dispenser.take(queue, batch)) {
          ids::Resolver(session, ids, system_clock()).resolve(batch);
          std::vector<const event::ResolvedEvent*> events;
          for (const event::ResolvedEvent& event : batch) events.push_back(&event);
          rows += writer.write(session, events, system_clock().now()).rows;
          ++transactions;
          dispenser.give_back(queue);
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  bench::Report report{"events", "rows", "transactions", "events_per_second"};
  const auto count = [](std::size_t number) { return static_cast<double>(number); };
  fmt::print(
      "{{\"events\": {}, \"rows\": {}, \"transactions\": {}, \"seconds\": {:.2f}, "
      "\"events_per_second\": {}, \"client_cpu_seconds\": {:.2f}}}\n",
      report.figure("events", count(work.events)), report.figure("rows", count(rows)),
      report.figure("transactions", count(transactions)), took.count(),
      report.figure("events_per_second", count(work.events) / took.count()),
      cpu_seconds() - cpu_before);
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr,
               "usage: write_bench CAPTURE DATABASE_URL [CONNECTIONS]\n"
               "Decodes the capture, then writes all its events by the live writer's statements "
               "over so many\nconnections (2), and prints what that took. The database is one of "
               "`skua migrate`.\n");
    return 2;
  }
  try {
    const int connections = argc == 4 ? std::atoi(argv[3]) : 2;
    return run(argv[1], argv[2], static_cast<std::size_t>(std::max(1, connections)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "write_bench: {}\n", error.what());
    return 1;
  }
}
