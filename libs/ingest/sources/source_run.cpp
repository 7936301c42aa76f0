#include "sources/source_run.hpp"

#include <utility>

#include "base/metric.hpp"
#include "sources/source.hpp"

namespace skua::sources {

SourceRun::SourceRun(postgres::Runtime& runtime, SourceRunOptions options, writer::WorkerPool& pool)
    : runtime_(runtime),
      options_(std::move(options)),
      clock_(runtime.clocks.latest),
      started_at_(clock_.now()),
      cursor_saver_(runtime, saver_options()),
      verification_(make_verification()),
      readers_({.sources = options_.sources,
                .ca_file = options_.ca_file,
                .read_timeout = options_.read_timeout,
                .filter = options_.filter},
               clock_),
      pipeline_(runtime, pipeline_options(), pool) {
  readers_.connect_to(pipeline_, cursor_saver_);
  if (readers_.size() == 1) return;
  group_ = std::make_unique<RelayGroup>(
      runtime,
      RelayGroup::Options{
          .fail_over = options_.fail_over, .margin = options_.margin, .ca_file = options_.ca_file},
      readers_, pipeline_, cursor_saver_);
}

SourceRun::~SourceRun() {
  if (group_) group_->stop();
  readers_.stop();
}

bool SourceRun::verifies_commits() const {
  return options_.accounts != nullptr && front().proof() == Proof::Commits;
}

bool SourceRun::notes_gaps() const {
  return verifies_commits() || (options_.repairs && front().proof() == Proof::None);
}

std::unique_ptr<pipeline::CommitVerification> SourceRun::make_verification() {
  if (options_.accounts == nullptr || front().proof() == Proof::None) return nullptr;
  if (front().proof() == Proof::Labels) {
    return std::make_unique<pipeline::CommitVerification>(*options_.accounts);
  }
  return std::make_unique<pipeline::CommitVerification>(runtime_, *options_.accounts, &heads_,
                                                        options_.level);
}

std::vector<std::string> SourceRun::names() const {
  std::vector<std::string> names;
  names.reserve(options_.sources.size());
  for (const SourceStart& start : options_.sources) names.push_back(start.source->name());
  return names;
}

pipeline::CursorSaver::Options SourceRun::saver_options() {
  return {.sources = names(),
          .interval = options_.cursor_interval,
          .heads = notes_gaps() ? &heads_ : nullptr,
          .resync = options_.resync};
}

std::vector<std::optional<tables::GroupCursors>> SourceRun::group_cursors() const {
  std::vector<std::optional<tables::GroupCursors>> all;
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    const auto kind = options_.sources[i].cursor.kind;
    const bool continues = kind == CursorChoice::Kind::Saved || kind == CursorChoice::Kind::Resume;
    all.push_back(continues ? cursor_saver_.group_cursors(i) : std::nullopt);
  }
  return all;
}

pipeline::PipelineOptions SourceRun::pipeline_options() {
  pipeline::PipelineOptions pipeline{
      .sources = names(),
      .decode_threads = front().decode_threads(options_.decode_threads),
      .in_flight = options_.in_flight,
      .make_decoder =
          [this](pipeline::DecoderServices services) {
            return front().make_decoder(std::move(services));
          },
      .verification = verification_ ? &verification_->verification() : nullptr,
      .groups = options_.groups,
      .group_cursors = group_cursors(),
      .filter = options_.filter,
      .signals = options_.signals,
      .gaps = notes_gaps() ? &heads_ : nullptr};
  if (front().is_acknowledged()) {
    pipeline.on_finished = [this](auto tickets) { readers_.on_finished(tickets); };
  }
  return pipeline;
}

void SourceRun::start() {
  cursor_saver_.start(
      {.watermark = [this](std::size_t source) { return pipeline_.watermark(source); },
       .first_unfinished = [this] { return pipeline_.first_unfinished(); },
       .metrics = [this](std::size_t source) { return to_json(metrics_of(source)); }});
  readers_.start();
  if (group_) group_->start();
}

void SourceRun::close() {
  if (group_) group_->stop();
  readers_.close();
}

bool SourceRun::drain(std::chrono::steady_clock::time_point deadline) {
  return pipeline_.drain(deadline);
}

void SourceRun::end() {
  readers_.stop();
  if (verification_) verification_->stop();
}

bool SourceRun::save() {
  return cursor_saver_.stop();
}

void SourceRun::drop() {
  cursor_saver_.drop();
}

std::vector<pipeline::Metrics> SourceRun::metrics() const {
  std::vector<pipeline::Metrics> all;
  for (std::size_t i = 0; i < readers_.size(); ++i) all.push_back(metrics_of(i));
  return all;
}

std::vector<pipeline::SourceState> SourceRun::states() const {
  std::vector<pipeline::SourceState> all;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    pipeline::SourceState state = readers_.intake(i).state();
    state.source = readers_.name(i);
    state.is_standby = readers_.active() != i;
    if (!state.is_standby) {
      state.lag = pipeline::lag_of(
          pipeline::pipeline_metrics(pipeline_, state.source, started_at_, clock_.now()));
    }
    all.push_back(std::move(state));
  }
  return all;
}

pipeline::Metrics SourceRun::metrics_of(std::size_t source) const {
  const bool is_active = readers_.active() == source;
  const std::uint64_t connections = readers_.connections(source);
  const Intake& intake = readers_.intake(source);
  pipeline::Metrics metrics;
  if (is_active) {
    // Sources that stand by for each other are counted together, in the metrics of the active
    // source.
    metrics =
        pipeline::pipeline_metrics(pipeline_, readers_.name(source), started_at_, clock_.now());
    if (options_.complete) options_.complete(metrics);
  } else {
    metrics = uncounted_metrics();
    metrics.source = readers_.name(source);
    metrics.at = clock_.now();
    metrics.started_at = started_at_;
    metrics.is_verified = pipeline_.is_verified();
  }
  if (readers_.size() > 1) {
    metrics.role = is_active ? pipeline::Metrics::Role::Active : pipeline::Metrics::Role::Standby;
  }
  metrics.cursor.reset();
  if (const auto watermark = pipeline_.watermark(source)) metrics.cursor = watermark->seq;
  if (!metrics.cursor) metrics.cursor = cursor_saver_.saved(source);
  metrics.connected = intake.connected();
  ConnectionCounters connection;
  connection.reconnects = connections > 0 ? connections - 1 : 0;
  connection.skipped = intake.skipped();
  connection.restarts = intake.restarts();
  metrics.add(pipeline::MetricScope::Source, values_of(connection));
  return metrics;
}

}  // namespace skua::sources
