#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/decode_thread.hpp"
#include "app/decoder.hpp"
#include "app/figures.hpp"
#include "app/intake_counters.hpp"
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

/// What the messages of a source are.
enum class SourceFormat : std::uint8_t { Frames, Tap, Jetstream };

/// What a source says of a message without decoding it.
struct Route {
  std::int64_t seq = 0;  // 0: it has none
  std::string_view did;  // empty: it is about no account; a view into the message
};

/// Of a frame; one that cannot be read goes the way of those without an account.
inline Route route_of(const std::optional<event::FramePeek>& peek) {
  return peek ? Route{peek->seq, peek->did} : Route{};
}

struct PipelineOptions {
  std::string database_url;
  /// Names where frames come from, in tombstones, dead letters and cursors: "relay:host".
  std::string source;
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
  SourceFormat format = SourceFormat::Frames;
  /// See InFlightList::OnFinished.
  writer::InFlightList::OnFinished on_finished = nullptr;
  /// Null: nothing is verified. Outlives the pipeline. Of frames only.
  const Verification* verification = nullptr;
  /// See DispatchServices. Outlives the pipeline.
  const CurrentFilter* filter = nullptr;
};

/// From a raw message to durable rows: decoders, the 30 workers, and the in-flight list that says
/// what is durable. One source. Messages of one DID keep their order; `submit` is called by one
/// thread.
class Pipeline {
 public:
  /// `on_defect` is called, from some thread, when going on would be wrong; the owner then stops.
  Pipeline(PipelineOptions options, const Clock& clock,
           std::function<void(const std::string&)> on_defect);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  using Ticket = writer::InFlightList::Ticket;

  /// Takes a message; `admitted` is told its ticket before it can finish. False: no credit, nothing
  /// happened; ask again after `when_room`.
  bool submit(transport::RawFrame& message, const Route& route,
              const std::function<void(Ticket)>& admitted = nullptr);
  /// See InFlightList::restart.
  void restart() { in_flight_.restart(); }
  void when_room(std::function<void()> wake) { in_flight_.when_room(std::move(wake)); }

  std::optional<writer::InFlightList::Watermark> watermark() const {
    return in_flight_.watermark();
  }
  /// All frames before this one are durable.
  Ticket first_unfinished() const { return in_flight_.first_unfinished(); }

  /// Waits until all that was submitted is durable, at most until the deadline, and ends all
  /// threads. What waits for answers about its account is given a moment, and then left: it is as
  /// if it had not been read. False: something else was left unfinished. No `submit` after it.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// An error frame is never submitted: it belongs to the connection.
  void count_error_frame() { intake_.errors += 1; }

  /// Waits until all that was submitted is durable. False: the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return in_flight_.wait_until_empty(deadline);
  }

  bool is_verified() const { return options_.verification != nullptr; }

  // What history in the same process shares: ids, and the measure of how much live work waits.
  resolve::SharedIds& ids() { return ids_; }
  writer::LivePressure& live_pressure() { return live_pressure_; }

  const IntakeCounters& intake() const { return intake_; }
  const writer::Counters& written() const { return counters_; }
  std::size_t frames_in_flight() const { return in_flight_.frames(); }
  /// From reading a frame to its commit.
  const LatencyHistogram& latency() const { return in_flight_.latency(); }

 private:
  std::unique_ptr<DecodeThread> make_decoder();

  const PipelineOptions options_;
  IntakeCounters intake_;
  writer::Counters counters_;
  writer::InFlightList in_flight_;
  writer::LivePressure live_pressure_;
  resolve::SharedIds ids_;
  writer::LiveWriter writer_;
  writer::WorkerServices services_;
  writer::WorkerPool pool_;
  std::vector<std::unique_ptr<DecodeThread>> decoders_;
  bool ended_ = false;
};

/// The figures that a pipeline knows of itself.
Figures pipeline_figures(const Pipeline& pipeline, std::string source, Timestamp started_at,
                         Timestamp now);

}  // namespace skua::app
