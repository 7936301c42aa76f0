#include "app/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "app/label_decoder.hpp"
#include "app/message_decoder.hpp"
#include "writer/router.hpp"

namespace skua::app {
namespace {

/// How long a stop waits for answers about accounts.
constexpr std::chrono::seconds kAnswerPatience{2};

}  // namespace

Pipeline::Pipeline(PipelineOptions options, Writing& writing, const Clock& clock)
    : options_(std::move(options)),
      writing_(writing),
      clock_(clock),
      in_flight_(options_.in_flight, options_.on_finished) {
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    const std::uint32_t origin = writing_.add_source(options_.sources[i], in_flight_);
    if (i == 0) first_origin_ = origin;
  }
  for (std::size_t i = 0; i < options_.decode_threads; ++i) decoders_.push_back(make_decoder());
}

std::unique_ptr<DecodeThread> Pipeline::make_decoder() {
  DispatchServices out{.intake = intake_,
                       .in_flight = in_flight_,
                       .sink = [this](auto event) { push(std::move(event)); },
                       .clock = clock_,
                       .filter = options_.filter};
  switch (options_.format) {
    case SourceFormat::Tap:
      return std::make_unique<MessageDecoder>(MessageDecoder::Format::Tap, std::move(out));
    case SourceFormat::Jetstream:
      return std::make_unique<MessageDecoder>(MessageDecoder::Format::Jetstream, std::move(out));
    case SourceFormat::Labels:
      return std::make_unique<LabelDecoder>(std::move(out), options_.labelers);
    case SourceFormat::Frames:
      break;
  }
  return std::make_unique<Decoder>(DecoderServices{.out = std::move(out),
                                                   .verification = options_.verification,
                                                   .decoders = options_.decode_threads});
}

Pipeline::~Pipeline() {
  if (!ended_) drain(std::chrono::steady_clock::now());
  // They name frames of the list, which goes now.
  writing_.end(false);
}

void Pipeline::push(event::UnresolvedEvent event) {
  event.origin = first_origin_;
  if (options_.sources.size() > 1) {
    event.origin += static_cast<std::uint32_t>(in_flight_.stream_of(event.ticket));
  }
  writing_.push(std::move(event));
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

bool Pipeline::drain(std::chrono::steady_clock::time_point deadline) {
  if (is_verified()) {
    in_flight_.wait_until_empty(
        std::min(deadline, std::chrono::steady_clock::now() + kAnswerPatience));
  }
  for (const auto& decoder : decoders_) decoder->close();
  std::size_t abandoned = 0;
  for (const auto& decoder : decoders_) {
    decoder->join();
    abandoned += decoder->abandoned();
  }
  ended_ = true;
  return in_flight_.wait_until_at_most(abandoned, deadline);
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
  figures.labels = in.labels;
  figures.infos = in.infos;
  figures.errors = in.errors;
  figures.unknown = in.unknown;
  figures.events = out.events;
  figures.rows = out.rows;
  figures.unchanged = out.unchanged;
  figures.transactions = out.transactions;
  figures.altered = in.altered;
  figures.filtered = in.filtered;
  figures.filtered_messages = in.filtered_messages;
  figures.is_verified = pipeline.is_verified();
  figures.verified = in.verified;
  figures.broke = in.broke;
  figures.former_keys = in.former_keys;
  for (std::size_t i = 0; i < verify::kReasons; ++i) {
    if (const std::uint64_t count = in.dropped[i]; count > 0) {
      figures.dropped[verify::name_of(static_cast<verify::errc>(i + 1))] = count;
    }
  }
  figures.stale_accounts = in.stale_accounts;
  figures.unsettled_accounts = in.unsettled_accounts;
  figures.accounts_waiting = in.accounts_waiting;
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
