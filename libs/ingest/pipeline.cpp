#include "ingest/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "store/dead_letters.hpp"
#include "writer/router.hpp"

namespace skua::ingest {
namespace {

/// How long a stop waits for answers about accounts, once all frames have been looked at.
constexpr std::chrono::seconds kAnswerPatience{2};
/// See writer::Producer::is_crowded.
constexpr std::size_t kCrowd = 4'000;
/// How often it looks whether they have.
constexpr std::chrono::milliseconds kBacklogTick{10};

}  // namespace

Pipeline::Pipeline(PipelineOptions options, writer::WorkerPool& pool, const Clock& clock)
    : options_(std::move(options)),
      pool_(pool),
      clock_(clock),
      in_flight_(options_.in_flight, options_.on_finished) {
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    const std::uint32_t origin = pool_.add_source(options_.sources[i], *this);
    if (i == 0) first_origin_ = origin;
  }
  for (std::size_t i = 0; i < options_.decode_threads; ++i) decoders_.push_back(make_decoder());
}

std::unique_ptr<DecodeThread> Pipeline::make_decoder() {
  DecoderServices services{
      .out = {.intake = intake_,
              .in_flight = in_flight_,
              .sink = [this](auto event) { push(std::move(event)); },
              .clock = clock_,
              .filter = options_.filter,
              .on_defect = options_.on_defect},
      .verification = options_.verification,
      .accounts = options_.accounts,
      .decoders = options_.decode_threads,
      .parked = ParkedBudget::Limits::of(options_.in_flight, options_.decode_threads)};
  if (options_.make_decoder) return options_.make_decoder(std::move(services));
  return std::make_unique<Decoder>(std::move(services));
}

Pipeline::~Pipeline() {
  if (!ended_) drain(std::chrono::steady_clock::now());
  // They name frames of the list, which goes now.
  pool_.end(false);
}

void Pipeline::push(event::UnresolvedEvent event) {
  event.origin = first_origin_;
  if (options_.sources.size() > 1) {
    event.origin += static_cast<std::uint32_t>(in_flight_.stream_of(event.ticket));
  }
  pool_.push(std::move(event));
}

void Pipeline::written(std::span<const event::Chunk* const> chunks) {
  std::vector<Ticket> tickets;
  tickets.reserve(chunks.size());
  for (const event::Chunk* chunk : chunks) {
    for (const event::ResolvedEvent& event : chunk->events) tickets.push_back(event.event.ticket);
  }
  in_flight_.finish(tickets, clock_.now());
}

bool Pipeline::is_crowded() const {
  return in_flight_.unfinished() >= kCrowd;
}

bool Pipeline::submit(transport::RawFrame& message, const Route& route,
                      const std::function<void(Ticket)>& admitted) {
  const std::size_t size = message.bytes.size();
  const auto ticket = in_flight_.admit({.stream = route.stream,
                                        .seq = route.seq,
                                        .bytes = size,
                                        .received_at = message.received_at});
  if (!ticket) return false;
  if (admitted) admitted(*ticket);
  intake_.frames += 1;
  intake_.bytes += size;
  AdmittedMessage job;
  // The view goes on to point into the bytes, which keep their place.
  job.did = route.did;
  job.bytes = std::move(message.bytes);
  job.ticket = *ticket;
  job.seq = route.seq;
  job.received_at = message.received_at;
  const std::uint64_t path = writer::path_hash(job.did);
  // The worker takes the remainder by 3; other bits choose the decoder, so that a decoder feeds all
  // workers.
  decoders_[(path >> 16) % decoders_.size()]->push(std::move(job));
  return true;
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
  in_flight_.wait_until_empty(std::min(deadline, SteadyClock::now() + kAnswerPatience));
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

status::Metrics pipeline_metrics(const Pipeline& pipeline, std::string source, Timestamp started_at,
                                 Timestamp now) {
  const IntakeCounters& in = pipeline.intake();
  const writer::Counters& out = pipeline.written_counters();
  status::Metrics metrics;
  metrics.source = std::move(source);
  metrics.at = now;
  metrics.started_at = started_at;
  metrics.frames = in.frames;
  metrics.bytes = in.bytes;
  metrics.commits = in.commits;
  metrics.syncs = in.syncs;
  metrics.identities = in.identities;
  metrics.accounts = in.accounts;
  metrics.labels = in.labels;
  metrics.infos = in.infos;
  metrics.errors = in.errors;
  metrics.unknown = in.unknown;
  metrics.events = out.events;
  metrics.rows = out.rows;
  metrics.unchanged = out.unchanged;
  metrics.transactions = out.transactions;
  metrics.unforeseen = in.unforeseen;
  metrics.altered = in.altered;
  metrics.filtered = in.filtered;
  metrics.filtered_messages = in.filtered_messages;
  metrics.is_verified = pipeline.is_verified();
  metrics.verified = in.verified;
  metrics.broke = in.broke;
  metrics.former_keys = in.former_keys;
  for (std::size_t i = 0; i < verify::kReasons; ++i) {
    if (const std::uint64_t count = in.dropped[i]; count > 0) {
      metrics.dropped[verify::name_of(static_cast<verify::errc>(i + 1))] = count;
    }
  }
  metrics.stale_accounts = in.stale_accounts;
  metrics.unsettled_accounts = in.unsettled_accounts;
  metrics.accounts_waiting = in.accounts_waiting;
  metrics.frames_held = in.frames_held;
  metrics.retries = out.retries;
  metrics.dead_letters = out.dead_letters;
  metrics.nuls_removed = out.nuls_removed;
  metrics.not_canonical = out.not_canonical;
  metrics.dead_letters_left_out = store::dead_letters_left_out();
  metrics.in_flight = pipeline.frames_in_flight();
  metrics.latency = pipeline.latency().counts();
  if (const auto watermark = pipeline.watermark()) metrics.cursor = watermark->seq;
  if (const std::int64_t newest = in.newest_time_us; newest != 0) {
    metrics.newest = Timestamp(std::chrono::microseconds(newest));
  }
  const auto backlog = pipeline.backlog();
  metrics.waiting = backlog.waiting;
  metrics.committed = backlog.newest_committed;
  metrics.oldest_waiting = backlog.oldest_waiting;
  return metrics;
}

}  // namespace skua::ingest
