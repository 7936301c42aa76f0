#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/figures.hpp"
#include "base/bounded_queue.hpp"
#include "base/bytes.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "resolve/resolver.hpp"
#include "transport/frame_sink.hpp"
#include "writer/counters.hpp"
#include "writer/in_flight.hpp"
#include "writer/live_pressure.hpp"
#include "writer/live_writer.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

/// What came in since the process started. Any thread; each figure only grows, but for the newest
/// time.
struct IntakeCounters {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> ops{0};
  std::atomic<std::uint64_t> syncs{0};
  std::atomic<std::uint64_t> identities{0};
  std::atomic<std::uint64_t> accounts{0};
  std::atomic<std::uint64_t> infos{0};
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> unknown{0};     // messages of a type this program does not know
  std::atomic<std::uint64_t> bad_frames{0};  // dead-lettered whole
  std::atomic<std::uint64_t> bad_ops{0};     // dead-lettered alone
  std::atomic<std::uint64_t> future{0};      // dropped: their rev lies too far ahead
  std::atomic<std::int64_t> newest_time_us{0};
};

struct PipelineOptions {
  std::string database_url;
  /// Names where frames come from, in tombstones, dead letters and cursors: "relay:host".
  std::string source;
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
};

/// From a raw frame to durable rows: decode threads, the 30 workers, and the in-flight list that
/// says what is durable. One source. Frames of one DID keep their order; `submit` is called by one
/// thread.
class Pipeline {
 public:
  /// `on_defect` is called, from some thread, when going on would be wrong; the owner then stops.
  Pipeline(PipelineOptions options, const Clock& clock,
           std::function<void(const std::string&)> on_defect);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Takes a frame. False: no credit, nothing happened; ask again after `when_room`. `peek` is what
  /// event::peek_frame said, nothing if it failed: then the frame becomes a dead letter.
  bool submit(transport::RawFrame& frame, const std::optional<event::FramePeek>& peek);
  /// See InFlightList::restart.
  void restart() { in_flight_.restart(); }
  void when_room(std::function<void()> wake) { in_flight_.when_room(std::move(wake)); }

  std::optional<writer::InFlightList::Watermark> watermark() const {
    return in_flight_.watermark();
  }

  /// Waits until all that was submitted is durable, at most until the deadline, and ends all
  /// threads. False: something was left unfinished. No `submit` after it.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// An error frame is never submitted: it belongs to the connection.
  void count_error_frame() { intake_.errors += 1; }

  /// Waits until all that was submitted is durable. False: the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return in_flight_.wait_until_empty(deadline);
  }

  const IntakeCounters& intake() const { return intake_; }
  const writer::Counters& written() const { return counters_; }
  std::size_t frames_in_flight() const { return in_flight_.frames(); }
  /// From reading a frame to its commit.
  const LatencyHistogram& latency() const { return in_flight_.latency(); }

 private:
  struct Job {
    Bytes frame;
    writer::InFlightList::Ticket ticket;
    std::int64_t seq;
  };
  void decode(BoundedQueue<Job>& jobs);
  void dispatch(const Job& job, event::DecodedFrame& decoded);
  void drop_future(const Job& job, const event::DecodedFrame& decoded);
  void reject(Job& job, const std::string& error);

  const PipelineOptions options_;
  IntakeCounters intake_;
  writer::Counters counters_;
  writer::InFlightList in_flight_;
  writer::LivePressure live_pressure_;
  resolve::SharedIds ids_;
  writer::LiveWriter writer_;
  writer::WorkerServices services_;
  writer::WorkerPool pool_;
  std::vector<std::unique_ptr<BoundedQueue<Job>>> queues_;
  std::vector<std::jthread> decoders_;
  bool ended_ = false;
};

/// The figures that a pipeline knows of itself.
Figures pipeline_figures(const Pipeline& pipeline, std::string source, Timestamp started_at,
                         Timestamp now);

}  // namespace skua::app
