#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/intake_counters.hpp"
#include "pipeline/metrics.hpp"
#include "tables/dead_letters.hpp"
#include "transport/frame_sink.hpp"
#include "writer/worker_pool.hpp"
#include "writer/worker_services.hpp"

namespace skua::pipeline {

struct PipelineOptions {
  /// The names of the sources in tombstones, dead letters and cursors: "relay:host". Several
  /// sources send the same events, and are read one at a time.
  std::vector<std::string> sources;
  std::size_t decode_threads = 2;
  InFlightList::Limits in_flight;
  /// Null: the messages are frames of a relay.
  MakeDecoder make_decoder = nullptr;
  /// See InFlightList::OnFinished.
  InFlightList::OnFinished on_finished = nullptr;
  /// See DecoderServices.
  const VerificationServices* verification = nullptr;
  /// See DispatchServices. Outlives the pipeline.
  const filter::CurrentFilter* filter = nullptr;
  /// See DispatchServices. Outlives the pipeline.
  SignalAccounts* signals = nullptr;
  /// See DispatchServices. Outlives the pipeline.
  PendingHeads* gaps = nullptr;
  /// Counts the messages; null: the pipeline has counters of its own. Outlives the pipeline.
  IntakeCounters* intake = nullptr;
};

/// Turns raw messages into events for the workers: the decoders, and the in-flight list, which
/// knows what is durable. For one source, or several that stand by for each other. Messages of one
/// DID keep their order. `submit` is called by one thread at a time.
class Pipeline final : private writer::Producer {
 public:
  /// Called before `pool` starts, or later: see WorkerPool::add_source. The pool outlives the
  /// pipeline.
  Pipeline(postgres::Runtime& runtime, PipelineOptions options, writer::WorkerPool& pool);
  ~Pipeline() override;

  using Ticket = InFlightList::Ticket;

  /// Takes a message. `peek`: what the intake has read from it, with views into the message; empty
  /// for a message that cannot be read. `stream`: the index of its source. `admitted` is called
  /// with its ticket before the message can finish. False: there is no room, and nothing happened;
  /// repeat after `when_room`.
  bool submit(transport::RawFrame& message, const event::FramePeek& peek, std::size_t stream = 0,
              const std::function<void(Ticket)>& admitted = nullptr);
  /// See InFlightList::restart.
  void restart(std::size_t stream = 0) { in_flight_.restart(stream); }
  /// See InFlightList::pass.
  void pass(std::size_t stream, const InFlightList::Watermark& watermark) {
    in_flight_.pass(stream, watermark);
  }
  void when_room(std::function<void()> wake) { in_flight_.when_room(std::move(wake)); }

  std::optional<InFlightList::Watermark> watermark(std::size_t stream = 0) const {
    return in_flight_.watermark(stream);
  }
  /// All frames before this one are durable.
  Ticket first_unfinished() const { return in_flight_.first_unfinished(); }

  /// Waits until all messages are durable, at most until the deadline, and ends the decoders. The
  /// workers continue. Messages that still wait for an answer two seconds after all others were
  /// decoded are left unfinished: a restart reads them again. False: other messages are unfinished.
  /// No `submit` after it.
  /// It may be repeated.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// Removes the sources from the pool, so that the pipeline can be destroyed while the pool runs.
  /// After `drain` has returned true. False: a worker may still use the pipeline; repeat it later.
  /// The thread that adds sources.
  bool leave_pool();

  /// Counts an error frame. Error frames are not submitted: they concern the connection.
  void count_error_frame() { intake_.errors += 1; }
  /// Counts a message of a kind that the source does not use. It is not submitted either.
  void count_ignored() { intake_.ignored_messages += 1; }

  /// Waits until all messages are durable. False: the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return in_flight_.wait_until_empty(deadline);
  }

  bool is_verified() const { return options_.verification != nullptr; }

  const IntakeCounters& intake() const { return intake_; }
  /// The counters of all sources of the process.
  const writer::Counters& written_counters() const { return pool_.stream_counters(); }
  /// How far the durable events are behind the source.
  InFlightList::Backlog backlog() const { return in_flight_.backlog(); }
  std::size_t frames_in_flight() const { return in_flight_.frames(); }
  /// The time from the arrival of a frame to its commit.
  const LatencyHistogram& latency() const { return in_flight_.latency(); }

 private:
  std::unique_ptr<DecodeThread> make_decode_thread();
  void written(std::span<const event::Chunk* const> chunks) override;
  bool is_crowded() const override;
  writer::Counters& counters() override { return pool_.stream_counters(); }
  void drop_over_share(Ticket ticket, std::string_view did);
  void wait_for_answers(std::chrono::steady_clock::time_point deadline);

  postgres::Runtime& runtime_;
  const PipelineOptions options_;
  writer::WorkerPool& pool_;
  IntakeCounters own_intake_;
  IntakeCounters& intake_;
  InFlightList in_flight_;
  std::vector<std::uint32_t> origins_;
  std::vector<std::unique_ptr<DecodeThread>> decoders_;
  bool ended_ = false;
  /// The round in which `leave_pool` was first called.
  std::optional<writer::WorkerPool::Round> leaving_since_;
  bool is_in_pool_ = true;
};

/// Metrics that are read from the parts of a pipeline.
struct PipelineGauges {
  Gauge in_flight{"in_flight", "skua_in_flight_messages", "messages",
                  "Messages between intake and commit"};
};

/// The counters and gauges of a pipeline.
struct PipelineCounts {
  const IntakeCounters& intake;
  const writer::Counters& written;
  const tables::DeadLetterCounters& dead_letters;
  const PipelineGauges& gauges;
};

void add_counts(pipeline::Metrics& metrics, const PipelineCounts& counts);

/// The metrics of a pipeline.
pipeline::Metrics pipeline_metrics(const Pipeline& pipeline, std::string source,
                                   Timestamp started_at, Timestamp now);

}  // namespace skua::pipeline
