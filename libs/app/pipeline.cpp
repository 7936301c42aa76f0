#include "app/pipeline.hpp"

#include <limits>
#include <utility>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "writer/router.hpp"

namespace skua::app {
namespace {

/// Events waiting in live lanes from which on backfill waits.
constexpr std::size_t kDeep = 2'000;

/// A host whose clock is wrong must not tell how far behind we are, nor make a revision that no
/// honest one could pass for a long time (atproto.com/specs/sync: at most 5 minutes ahead).
constexpr std::chrono::minutes kFuture{5};

void count(IntakeCounters& intake, const event::DecodedFrame& frame, Timestamp now) {
  switch (frame.type) {
    case event::MessageType::Commit:
      intake.commits += 1;
      intake.ops += frame.events.size();
      break;
    case event::MessageType::Sync:
      intake.syncs += 1;
      break;
    case event::MessageType::Identity:
      intake.identities += 1;
      break;
    case event::MessageType::Account:
      intake.accounts += 1;
      break;
    case event::MessageType::Info:
      intake.infos += 1;
      break;
    case event::MessageType::Error:
      intake.errors += 1;
      break;
    case event::MessageType::Unknown:
      intake.unknown += 1;
      break;
  }
  if (frame.time > now + kFuture) return;
  const std::int64_t time = frame.time.time_since_epoch().count();
  std::int64_t newest = intake.newest_time_us.load(std::memory_order_relaxed);
  while (time > newest && !intake.newest_time_us.compare_exchange_weak(newest, time)) {
  }
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options, const Clock& clock,
                   std::function<void(const std::string&)> on_defect)
    : options_(std::move(options)),
      in_flight_(options_.in_flight),
      live_pressure_(kDeep),
      writer_(options_.source),
      services_{.database_url = options_.database_url,
                .writer = writer_,
                .ids = ids_,
                .in_flight = in_flight_,
                .live_pressure = live_pressure_,
                .counters = counters_,
                .clock = clock,
                .on_defect = std::move(on_defect)},
      pool_(services_) {
  for (std::size_t i = 0; i < options_.decode_threads; ++i) {
    // What may be in flight at all bounds these queues.
    queues_.push_back(std::make_unique<BoundedQueue<Job>>(std::numeric_limits<std::size_t>::max()));
    decoders_.emplace_back([this, jobs = queues_.back().get()] { decode(*jobs); });
  }
}

Pipeline::~Pipeline() {
  if (!ended_) drain(std::chrono::steady_clock::now());
}

bool Pipeline::submit(transport::RawFrame& frame, const std::optional<event::FramePeek>& peek) {
  const std::int64_t seq = peek ? peek->seq : 0;
  const std::size_t size = frame.bytes.size();
  const auto ticket =
      in_flight_.admit({.seq = seq, .bytes = size, .received_at = frame.received_at});
  if (!ticket) return false;
  intake_.frames += 1;
  intake_.bytes += size;
  const std::uint64_t path = peek ? writer::path_hash(peek->did) : 0;
  // The worker takes the remainder by 3; other bits choose the decoder, so that a decoder feeds all
  // workers.
  queues_[(path >> 16) % queues_.size()]->push({std::move(frame.bytes), *ticket, seq});
  return true;
}

void Pipeline::decode(BoundedQueue<Job>& jobs) {
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  while (auto job = jobs.pop()) {
    if (const auto result = decoder.decode(job->frame, decoded); result.has_error()) {
      reject(*job, result.error().message());
    } else if (decoded.rev && decoded.rev->time() > services_.clock.now() + kFuture) {
      drop_future(*job, decoded);
    } else {
      crash_point("decoded");
      dispatch(*job, decoded);
    }
  }
}

void Pipeline::dispatch(const Job& job, event::DecodedFrame& decoded) {
  count(intake_, decoded, services_.clock.now());
  if (decoded.type == event::MessageType::Sync) {
    logger("intake")->debug("did={} seq={}: #sync", decoded.did, decoded.seq);
  } else if (decoded.type == event::MessageType::Info) {
    logger("intake")->info("#info {}: {}", decoded.name, decoded.message);
  }
  event::fold_commit(decoded.events);
  in_flight_.decoded(job.ticket, decoded.events.size(), decoded.time);
  for (event::UnresolvedEvent& event : decoded.events) {
    if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      intake_.bad_ops += 1;
      logger("intake")->warn("did={} seq={} {}: dead-lettered: {}", event.did, event.seq,
                             rejection->what, rejection->error);
    }
    event.ticket = job.ticket;
    pool_.push(std::move(event));
  }
}

void Pipeline::drop_future(const Job& job, const event::DecodedFrame& decoded) {
  intake_.future += 1;
  logger("intake")->debug("did={} seq={}: dropped, its rev {} lies more than 5 minutes ahead",
                          decoded.did, decoded.seq, decoded.rev->to_string());
  in_flight_.decoded(job.ticket, 0, Timestamp{});
}

void Pipeline::reject(Job& job, const std::string& error) {
  intake_.bad_frames += 1;
  event::UnresolvedEvent event;
  if (const auto peek = event::peek_frame(job.frame); peek.has_value()) {
    event.did = std::string(peek->did);
  }
  logger("intake")->warn("did={} seq={}: frame dead-lettered: {}", event.did, job.seq, error);
  event.type = event::RecordType::Metadata;
  event.seq = job.seq;
  event.ticket = job.ticket;
  event.body = event::Rejection{"frame", error, std::move(job.frame)};
  in_flight_.decoded(job.ticket, 1, Timestamp{});
  pool_.push(std::move(event));
}

bool Pipeline::drain(std::chrono::steady_clock::time_point deadline) {
  for (const auto& queue : queues_) queue->close();
  for (auto& decoder : decoders_) {
    if (decoder.joinable()) decoder.join();
  }
  const bool all_durable = in_flight_.wait_until_empty(deadline);
  if (all_durable) {
    pool_.finish();
  } else {
    pool_.abandon();
  }
  ended_ = true;
  return all_durable;
}

Figures pipeline_figures(const Pipeline& pipeline, std::string source, Timestamp started_at,
                         Timestamp now) {
  const IntakeCounters& in = pipeline.intake();
  const writer::Counters& out = pipeline.written();
  Figures figures;
  figures.source = std::move(source);
  figures.at = now;
  figures.started_at = started_at;
  figures.frames = in.frames;
  figures.bytes = in.bytes;
  figures.commits = in.commits;
  figures.syncs = in.syncs;
  figures.identities = in.identities;
  figures.accounts = in.accounts;
  figures.infos = in.infos;
  figures.errors = in.errors;
  figures.unknown = in.unknown;
  figures.events = out.events;
  figures.rows = out.rows;
  figures.unchanged = out.unchanged;
  figures.transactions = out.transactions;
  figures.future = in.future;
  figures.retries = out.retries;
  figures.dead_letters = out.dead_letters;
  figures.nuls_removed = out.nuls_removed;
  figures.in_flight = pipeline.frames_in_flight();
  figures.latency = pipeline.latency().counts();
  if (const auto watermark = pipeline.watermark()) figures.cursor = watermark->seq;
  if (const std::int64_t newest = in.newest_time_us; newest != 0) {
    figures.newest = Timestamp(std::chrono::microseconds(newest));
  }
  return figures;
}

}  // namespace skua::app
