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

#include "accounts/account_source.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/decoder.hpp"
#include "ingest/intake_counters.hpp"
#include "ingest/writing.hpp"
#include "status/metrics.hpp"
#include "transport/frame_sink.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// What a source says of a message without decoding it.
struct Route {
  std::int64_t seq = 0;  // 0: it has none
  std::string_view did;  // empty: it is about no account; a view into the message
  /// Which of the pipeline's sources it came from.
  std::size_t stream = 0;
};

/// Of a frame; one that cannot be read goes the way of those without an account.
inline Route route_of(const std::optional<event::FramePeek>& peek) {
  return peek ? Route{peek->seq, peek->did} : Route{};
}

struct PipelineOptions {
  /// Where messages come from, as tombstones, dead letters and cursors call it: "relay:host".
  /// Several: they say the same, and are read one after the other.
  std::vector<std::string> sources;
  std::size_t decode_threads = 2;
  writer::InFlightList::Limits in_flight;
  /// Null: the messages are frames of a relay.
  std::function<std::unique_ptr<DecodeThread>(DecoderServices)> make_decoder = nullptr;
  /// See InFlightList::OnFinished.
  writer::InFlightList::OnFinished on_finished = nullptr;
  /// See DecoderServices.
  const Verification* verification = nullptr;
  accounts::AccountSource* accounts = nullptr;
  /// See DispatchServices. Outlives the pipeline.
  const filter::CurrentFilter* filter = nullptr;
  /// See DispatchServices.
  std::function<void(const std::string& what)> on_defect = nullptr;
};

/// From a raw message to events for the workers: decoders, and the in-flight list that says what is
/// durable. One source, or several that stand by for each other. Messages of one DID keep their
/// order; `submit` is called by one thread at a time.
class Pipeline {
 public:
  /// Before `writing` starts, which outlives the pipeline.
  Pipeline(PipelineOptions options, Writing& writing, const Clock& clock);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  using Ticket = writer::InFlightList::Ticket;

  /// Takes a message; `admitted` is told its ticket before it can finish. False: no credit, nothing
  /// happened; ask again after `when_room`.
  bool submit(transport::RawFrame& message, const Route& route,
              const std::function<void(Ticket)>& admitted = nullptr);
  /// See InFlightList::restart.
  void restart(std::size_t stream = 0) { in_flight_.restart(stream); }
  /// See InFlightList::pass.
  void pass(std::size_t stream, const writer::InFlightList::Watermark& watermark) {
    in_flight_.pass(stream, watermark);
  }
  void when_room(std::function<void()> wake) { in_flight_.when_room(std::move(wake)); }

  std::optional<writer::InFlightList::Watermark> watermark(std::size_t stream = 0) const {
    return in_flight_.watermark(stream);
  }
  /// All frames before this one are durable.
  Ticket first_unfinished() const { return in_flight_.first_unfinished(); }

  /// Waits until all that was submitted is durable, at most until the deadline, and ends the
  /// decoders; the workers are left to their owner. Frames that still wait for answers about their
  /// account some time after all frames were looked at are left: it is as if they had not been
  /// read. False: something else was left unfinished. No `submit` after it.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// An error frame is never submitted: it belongs to the connection.
  void count_error_frame() { intake_.errors += 1; }

  /// Waits until all that was submitted is durable. False: the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return in_flight_.wait_until_empty(deadline);
  }

  bool is_verified() const {
    return options_.verification != nullptr || options_.accounts != nullptr;
  }

  const IntakeCounters& intake() const { return intake_; }
  /// Of all sources of the process.
  const writer::Counters& written() const { return writing_.counters(); }
  /// How far behind the source what is durable is.
  writer::InFlightList::Backlog backlog() const { return in_flight_.backlog(); }
  std::size_t frames_in_flight() const { return in_flight_.frames(); }
  /// From reading a frame to its commit.
  const LatencyHistogram& latency() const { return in_flight_.latency(); }

 private:
  std::unique_ptr<DecodeThread> make_decoder();
  void push(event::UnresolvedEvent event);
  void wait_for_answers(std::chrono::steady_clock::time_point deadline);

  const PipelineOptions options_;
  Writing& writing_;
  const Clock& clock_;
  IntakeCounters intake_;
  writer::InFlightList in_flight_;
  std::uint32_t first_origin_ = 0;
  std::vector<std::unique_ptr<DecodeThread>> decoders_;
  bool ended_ = false;
};

/// The metrics that a pipeline knows of itself.
status::Metrics pipeline_metrics(const Pipeline& pipeline, std::string source, Timestamp started_at,
                                 Timestamp now);

}  // namespace skua::ingest
