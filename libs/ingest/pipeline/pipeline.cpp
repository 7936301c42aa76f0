#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/metric.hpp"
#include "base/seeded_hash.hpp"
#include "pipeline/dispatch.hpp"
#include "transport/errc.hpp"
#include "verify/errc.hpp"
#include "writer/router.hpp"

namespace skua::pipeline {
namespace {

/// The time for which a stop waits for answers about accounts, after all other frames were decoded.
constexpr std::chrono::seconds kAnswerTimeout{2};
/// The number of unfinished frames from which writer::Producer::is_crowded is true.
constexpr std::size_t kBacklogLimit = 4'000;
/// The interval at which a stop checks whether the answers have come.
constexpr std::chrono::milliseconds kBacklogTick{10};

bool is_too_large(ErrorCode defect) {
  return defect == transport::errc::message_too_large || defect == transport::errc::zstd_too_large;
}

}  // namespace

Pipeline::Pipeline(postgres::Runtime& runtime, PipelineOptions options, writer::WorkerPool& pool)
    : runtime_(runtime),
      options_(std::move(options)),
      pool_(pool),
      intake_(options_.intake != nullptr ? *options_.intake : own_intake_),
      in_flight_(options_.in_flight, options_.on_finished) {
  for (const std::string& source : options_.sources) {
    origins_.push_back(pool_.add_source(source, *this));
  }
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    known_events_.emplace_back(i < options_.group_cursors.size() ? options_.group_cursors[i]
                                                                 : std::nullopt);
  }
  for (std::size_t i = 0; i < options_.decode_threads; ++i)
    decoders_.push_back(make_decode_thread());
}

std::unique_ptr<DecodeThread> Pipeline::make_decode_thread() {
  DecoderServices services{
      .out = {.runtime = runtime_,
              .intake = intake_,
              .in_flight = in_flight_,
              .sink =
                  [this](event::UnresolvedEvent event) {
                    const bool has_streams = origins_.size() > 1;
                    event.origin = origins_[has_streams ? in_flight_.stream_of(event.ticket) : 0];
                    pool_.push(std::move(event));
                  },
              .groups = options_.groups,
              .filter = options_.filter,
              .signals = options_.signals,
              .gaps = options_.gaps},
      .verification = options_.verification,
      .decoders = options_.decode_threads,
      .parked = ParkedBudget::Limits::of(options_.in_flight, options_.decode_threads)};
  if (options_.make_decoder) {
    return std::make_unique<DecodeThread>(std::move(services), options_.make_decoder);
  }
  return std::make_unique<DecodeThread>(std::move(services), [](DecoderServices of_thread) {
    return std::make_unique<Decoder>(std::move(of_thread));
  });
}

Pipeline::~Pipeline() {
  if (!ended_) drain(std::chrono::steady_clock::now());
  // The workers must end first, because their events refer to frames of the list, which is
  // destroyed now.
  if (is_in_pool_) pool_.end(false);
}

void Pipeline::written(std::span<const event::Chunk* const> chunks) {
  std::vector<Ticket> tickets;
  tickets.reserve(chunks.size());
  for (const event::Chunk* chunk : chunks) {
    for (const event::ResolvedEvent& event : chunk->events) tickets.push_back(event.event.ticket);
  }
  in_flight_.finish(tickets, runtime_.clocks.latest.now());
}

bool Pipeline::is_crowded() const {
  return in_flight_.unfinished() >= kBacklogLimit;
}

void Pipeline::restart(std::size_t stream) {
  known_events_[stream].clear();
  in_flight_.restart(stream);
}

bool Pipeline::submit(transport::RawFrame& message, const event::FramePeek& peek,
                      std::size_t stream, const std::function<void(Ticket)>& admitted) {
  const std::size_t size = message.bytes.size();
  const std::uint64_t account = peek.did.empty() ? 0 : seeded_hash(peek.did);
  const bool is_foreign = !peek.did.empty() && !options_.groups.has_account(peek.did);
  // A commit or sync may be dropped, because a resync of the repository replaces the message.
  const bool is_replaceable =
      peek.type == event::MessageType::Commit || peek.type == event::MessageType::Sync;
  const bool is_known = !is_foreign && known_events_[stream].has(peek);
  const bool is_over_share = !is_foreign && !is_known && is_replaceable &&
                             options_.gaps != nullptr && !in_flight_.has_share(account, size);
  const bool is_dropped = is_foreign || is_known || is_over_share;
  const auto ticket = in_flight_.admit({.stream = stream,
                                        .seq = peek.seq,
                                        .bytes = is_dropped ? 0 : size,
                                        .received_at = message.received_at,
                                        .account = is_dropped ? 0 : account});
  if (!ticket) return false;
  if (admitted) admitted(*ticket);
  intake_.frames += 1;
  intake_.bytes += size;
  if (is_foreign || is_known) {
    drop(*ticket, message, peek,
         is_foreign ? verify::errc::foreign_account : verify::errc::already_indexed);
    return true;
  }
  if (is_over_share) {
    drop_over_share(*ticket, peek.did);
    return true;
  }
  AdmittedMessage admitted_message;
  // The views continue to point into the bytes, which keep their address when they are moved.
  static_cast<event::FramePeek&>(admitted_message) = peek;
  admitted_message.bytes = std::move(message.bytes);
  admitted_message.ticket = *ticket;
  admitted_message.received_at = message.received_at;
  admitted_message.defect = message.defect;
  if (is_too_large(message.defect)) intake_.too_large += 1;
  const std::uint64_t path = writer::path_hash(peek.did);
  // The worker depends on the remainder of the hash by 3. Other bits choose the decoder, so that
  // each decoder feeds all workers.
  decoders_[(path >> 16) % decoders_.size()]->push(std::move(admitted_message));
  return true;
}

void Pipeline::drop(Ticket ticket, const transport::RawFrame& message, const event::FramePeek& peek,
                    verify::errc reason) {
  intake_.drop(reason);
  // The cursor is saved with the time of its message, also if this message was dropped.
  const auto time = parse_datetime(peek.time);
  if (time) note_time(intake_, time->instant, message.received_at);
  in_flight_.decoded(ticket, 0, time ? time->instant : Timestamp{});
}

void Pipeline::drop_over_share(Ticket ticket, std::string_view did) {
  options_.gaps->add_gap(ticket, {std::string(did)});
  intake_.drop(verify::errc::over_share);
  logger("intake")->warn(
      "did={}: more messages wait than the account's share: they are dropped, and a resync follows",
      did);
  in_flight_.decoded(ticket, 0, Timestamp{});
}

void Pipeline::wait_for_answers(std::chrono::steady_clock::time_point deadline) {
  using SteadyClock = std::chrono::steady_clock;
  const auto is_behind = [this] {
    return std::any_of(decoders_.begin(), decoders_.end(),
                       [](const auto& decoder) { return decoder->backlog() > 0; });
  };
  while (is_behind() && SteadyClock::now() < deadline) {
    in_flight_.wait_until_empty(std::min(deadline, SteadyClock::now() + kBacklogTick));
  }
  in_flight_.wait_until_empty(std::min(deadline, SteadyClock::now() + kAnswerTimeout));
}

bool Pipeline::drain(std::chrono::steady_clock::time_point deadline) {
  if (is_verified()) wait_for_answers(deadline);
  for (const auto& decoder : decoders_) decoder->close();
  std::size_t abandoned = 0;
  for (const auto& decoder : decoders_) {
    decoder->join();
    abandoned += decoder->abandoned();
  }
  ended_ = true;
  return in_flight_.wait_until_at_most(abandoned, deadline);
}

bool Pipeline::leave_pool() {
  if (!leaving_since_) leaving_since_ = pool_.round();
  if (!pool_.is_unused(*leaving_since_)) return false;
  if (std::exchange(is_in_pool_, false)) {
    for (const std::uint32_t origin : origins_) pool_.remove_source(origin);
  }
  return true;
}

void add_counts(pipeline::Metrics& metrics, const PipelineCounts& counts) {
  using pipeline::MetricScope;
  metrics.add(MetricScope::Pipeline, values_of(counts.intake));
  metrics.add(MetricScope::Pipeline, values_of(counts.gauges));
  metrics.add(MetricScope::Process, values_of(counts.written));
  metrics.add(MetricScope::Process, values_of(counts.dead_letters));
}

pipeline::Metrics pipeline_metrics(const Pipeline& pipeline, std::string source,
                                   Timestamp started_at, Timestamp now) {
  pipeline::Metrics metrics;
  metrics.source = std::move(source);
  metrics.at = now;
  metrics.started_at = started_at;
  metrics.is_verified = pipeline.is_verified();
  metrics.latency = pipeline.latency().counts();
  if (const auto watermark = pipeline.watermark()) metrics.cursor = watermark->seq;
  if (const std::int64_t newest = pipeline.intake().newest_time_us; newest != 0) {
    metrics.newest = Timestamp(std::chrono::microseconds(newest));
  }
  const auto backlog = pipeline.backlog();
  metrics.waiting = backlog.waiting;
  metrics.committed = backlog.newest_committed;
  metrics.oldest_waiting = backlog.oldest_waiting;
  PipelineGauges gauges;
  gauges.in_flight = pipeline.frames_in_flight();
  add_counts(metrics, {.intake = pipeline.intake(),
                       .written = pipeline.written_counters(),
                       .dead_letters = tables::dead_letter_counters(),
                       .gauges = gauges});
  return metrics;
}

}  // namespace skua::pipeline
