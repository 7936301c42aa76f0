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

#include "atproto/account_group.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/intake_counters.hpp"
#include "pipeline/known_events.hpp"
#include "pipeline/metrics.hpp"
#include "tables/dead_letters.hpp"
#include "transport/frame_sink.hpp"
#include "writer/worker_pool.hpp"
#include "writer/worker_services.hpp"

namespace skua::pipeline {

struct PipelineOptions {
  /// The names of the sources in tombstones, dead letters and cursors: "relay:host". Several
  /// sources send the same events, and only one of them is read at a time.
  std::vector<std::string> sources;
  std::size_t decode_threads = 2;
  InFlightList::Limits in_flight;
  /// Makes the decoders. If it is null, the messages are frames of a relay.
  MakeDecoder make_decoder = nullptr;
  /// The function that the in-flight list calls (see InFlightList::OnFinished).
  InFlightList::OnFinished on_finished = nullptr;
  /// The verification of the decoders (see DecoderServices).
  const VerificationServices* verification = nullptr;
  /// The groups of accounts that the database owns. Messages of other accounts are dropped before
  /// they are decoded.
  atproto::GroupSet groups = {};
  /// The cursors of groups of each source (see KnownEvents). Missing ones are none.
  std::vector<std::optional<tables::GroupCursors>> group_cursors = {};
  /// The filter (see DispatchServices). It outlives the pipeline.
  const filter::CurrentFilter* filter = nullptr;
  /// The signal accounts (see DispatchServices). They outlive the pipeline.
  SignalAccounts* signals = nullptr;
  /// The gaps (see DispatchServices). They outlive the pipeline.
  PendingHeads* gaps = nullptr;
  /// The counters of messages, which outlive the pipeline. If it is null, the pipeline has counters
  /// of its own.
  IntakeCounters* intake = nullptr;
};

/// Turns raw messages into events for the workers, with the decoders, and with the in-flight list,
/// which knows the durable messages. It is for one source, or several sources that stand by for
/// each other. Messages of one DID keep their order. One thread at a time calls `submit`.
class Pipeline final : private writer::Producer {
 public:
  /// Adds the sources to `pool`, which outlives the pipeline. Create it before the pool starts, or
  /// later: WorkerPool::add_source has the rules.
  Pipeline(postgres::Runtime& runtime, PipelineOptions options, writer::WorkerPool& pool);
  ~Pipeline() override;

  using Ticket = InFlightList::Ticket;

  /// Takes a message. `peek` has the fields that the intake has read from the message, with views
  /// into the message. It is empty for a message that cannot be read. `stream` is the index of the
  /// message's source. `admitted` is called with the ticket of the message before the message can
  /// finish. Returns false if there is no room. In this case nothing has happened, and the call
  /// must be repeated after `when_room`.
  bool submit(transport::RawFrame& message, const event::FramePeek& peek, std::size_t stream = 0,
              const std::function<void(Ticket)>& admitted = nullptr);
  /// The sequence numbers of the source were reset (see InFlightList::restart).
  void restart(std::size_t stream = 0);
  /// Calls InFlightList::pass.
  void pass(std::size_t stream, const InFlightList::Watermark& watermark) {
    in_flight_.pass(stream, watermark);
  }
  void when_room(std::function<void()> wake) { in_flight_.when_room(std::move(wake)); }

  std::optional<InFlightList::Watermark> watermark(std::size_t stream = 0) const {
    return in_flight_.watermark(stream);
  }
  /// Returns the ticket of a frame before which all frames are durable.
  Ticket first_unfinished() const { return in_flight_.first_unfinished(); }

  /// Waits until all messages are durable, at most until the deadline, and ends the decoders. The
  /// workers continue. Messages that still wait for an answer two seconds after all others were
  /// decoded are left unfinished, and a restart reads them again. Returns false if other messages
  /// are unfinished. Do not call `submit` after it. It may be repeated.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// Removes the sources from the pool, so that the pipeline can be destroyed while the pool runs.
  /// Call it after `drain` has returned true, on the thread that adds sources. Returns false if a
  /// worker may still use the pipeline. In this case repeat the call later.
  bool leave_pool();

  /// Counts an error frame. Error frames are not submitted, because they concern the connection.
  void count_error_frame() { intake_.errors += 1; }
  /// Counts a message of a kind that the source does not use. Such messages are not submitted.
  void count_ignored() { intake_.ignored_messages += 1; }

  /// Waits until all messages are durable. Returns false if the deadline came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) {
    return in_flight_.wait_until_empty(deadline);
  }

  bool is_verified() const { return options_.verification != nullptr; }

  const IntakeCounters& intake() const { return intake_; }
  /// Returns the counters of all sources of the process.
  const writer::Counters& written_counters() const { return pool_.stream_counters(); }
  /// Returns the distance between the durable events and the source.
  InFlightList::Backlog backlog() const { return in_flight_.backlog(); }
  std::size_t frames_in_flight() const { return in_flight_.frames(); }
  /// Returns the times from the arrival of a frame to its commit.
  const LatencyHistogram& latency() const { return in_flight_.latency(); }

 private:
  std::unique_ptr<DecodeThread> make_decode_thread();
  /// Finishes and counts a message that needs no work, such as one of an account whose group the
  /// database does not own.
  void drop(Ticket ticket, const transport::RawFrame& message, const event::FramePeek& peek,
            verify::errc reason);
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
  /// Those of each source.
  std::vector<KnownEvents> known_events_;
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

/// Returns the metrics of a pipeline.
pipeline::Metrics pipeline_metrics(const Pipeline& pipeline, std::string source,
                                   Timestamp started_at, Timestamp now);

}  // namespace skua::pipeline
