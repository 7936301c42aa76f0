#include "app/indexer.hpp"

#include <functional>
#include <future>
#include <utility>

#include "app/cursor_keeper.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/frame_intake.hpp"
#include "app/handle_lookups.hpp"
#include "app/history_watch.hpp"
#include "app/jetstream_intake.hpp"
#include "app/pipeline.hpp"
#include "app/tap_intake.hpp"
#include "app/verifying.hpp"
#include "backfill/backfiller.hpp"
#include "transport/stream_client.hpp"

namespace skua::app {
namespace {

std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved) {
  switch (choice.kind) {
    case CursorChoice::Kind::Saved:
      return saved;
    case CursorChoice::Kind::Live:
      return std::nullopt;
    case CursorChoice::Kind::Oldest:
      return 0;
    case CursorChoice::Kind::At:
      return choice.seq;
  }
  return saved;
}

/// What can be verified: frames are signed for, JSON is not.
bool is_relay(const Source& source) {
  return std::holds_alternative<RelaySource>(source);
}

SourceFormat format_of(const Source& source) {
  if (std::holds_alternative<TapSource>(source)) return SourceFormat::Tap;
  return is_relay(source) ? SourceFormat::Frames : SourceFormat::Jetstream;
}

}  // namespace

class Indexer::Impl {
 public:
  Impl(IndexerOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        source_(source_name(options_.source)),
        verifies_(options_.verify && is_relay(options_.source)),
        started_at_(clock.now()),
        keeper_({.database_url = options_.database_url,
                 .source = source_,
                 .interval = options_.cursor_interval,
                 .chain = verifies_ ? &chain_ : nullptr,
                 .resync = options_.resync},
                clock),
        accounts_(options_.verify || options_.history
                      ? std::make_unique<NetworkAccounts>(options_.accounts, clock)
                      : nullptr),
        verifying_(verifies_ ? std::make_unique<Verifying>(*accounts_, &chain_, *options_.verify,
                                                           lookup_options())
                             : nullptr),
        pipeline_(pipeline_options(), clock,
                  [this](const std::string& what) { defect_.report(what); }),
        history_(options_.history ? make_history() : nullptr) {
    intake_ =
        std::visit([this](const auto& source) { return make_intake(source); }, options_.source);
    client_ = std::make_unique<transport::StreamClient>(client_options(), *intake_);
    intake_->attach(*client_);
    // When the source is this process's, and before anything of it is read.
    filter_watch_ = std::make_unique<FilterWatch>(
        FilterWatch::Options{
            .database_url = options_.database_url,
            .choice = options_.filter,
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        filter_);
    if (options_.check_handles) handles_ = std::make_unique<HandleLookups>(handle_options(), clock);
  }

  ~Impl() {
    // Whoever finds documents answers to what is still there.
    if (accounts_) accounts_->stop();
  }

  void start() {
    keeper_.start({.watermark = [this] { return pipeline_.watermark(); },
                   .first_unfinished = [this] { return pipeline_.first_unfinished(); },
                   .figures = [this] { return to_json(figures()); }},
                  [this](const std::string& what) { defect_.report(what); });
    filter_watch_->start();
    if (history_) history_->start();
    client_->start();
  }

  void poke_history() {
    if (history_) history_->backfiller.poke();
  }

  bool stop() {
    filter_watch_->stop();
    // A Tap is still told what becomes durable meanwhile.
    if (tap_ != nullptr) {
      tap_->close();
    } else {
      client_->stop();
    }
    // Meanwhile: neither waits for the other, and both for the database.
    const auto history_ended = std::async(std::launch::async, [this] {
      if (history_) history_->stop();
    });
    // After a defect a worker is gone, and what it had is never finished.
    const auto patience = defect() ? std::chrono::milliseconds(0) : options_.drain_timeout;
    const bool drained = pipeline_.drain(std::chrono::steady_clock::now() + patience);
    client_->stop();
    if (verifying_) verifying_->stop();
    if (accounts_) accounts_->stop();
    history_ended.wait();
    if (handles_) handles_->stop();
    const bool saved = keeper_.stop();
    return drained && saved;
  }

  Figures figures() const {
    Figures figures = pipeline_figures(pipeline_, source_, started_at_, clock_.now());
    figures.connected = intake_->connected();
    const std::uint64_t connections = client_->statistics().connections;
    figures.reconnects = connections > 0 ? connections - 1 : 0;
    figures.skipped = intake_->skipped();
    figures.restarts = intake_->restarts();
    if (!figures.cursor) figures.cursor = keeper_.saved();
    if (handles_) {
      figures.handles_valid = handles_->counters().valid;
      figures.handles_invalid = handles_->counters().invalid;
      figures.handles_failed = handles_->counters().failed;
    }
    return figures;
  }

  std::optional<HistoryMoment> history() const {
    if (!history_ || history_->backfiller.is_idle()) return std::nullopt;
    return history_->watch.moment();
  }

  std::optional<std::string> defect() const { return defect_.get(); }

 private:
  /// History beside the stream.
  struct Beside {
    backfill::Backfiller backfiller;
    HistoryWatch watch;

    Beside(backfill::BackfillerOptions options, Pipeline& pipeline, const Clock& clock,
           std::function<void(const std::string&)> on_defect)
        : backfiller(options, pipeline.ids(), pipeline.live_pressure(), clock,
                     std::move(on_defect)),
          watch({.database_url = options.database_url,
                 .holder = options.holder,
                 .figures = [this] { return backfiller.figures(); },
                 .is_idle = [this] { return backfiller.is_idle(); }},
                clock) {}

    void start() {
      backfiller.start();
      watch.start();
    }
    void stop() {
      backfiller.stop();
      watch.stop();
    }
  };

  std::unique_ptr<Beside> make_history() {
    auto options =
        backfiller_options(*options_.history, options_.database_url, "skua run", *accounts_);
    options.verify = options_.verify.has_value();
    options.resync = options_.verify.has_value();
    return std::make_unique<Beside>(std::move(options), pipeline_, clock_,
                                    [this](const std::string& what) { defect_.report(what); });
  }

  RepositoryLookup::Options lookup_options() {
    return {.database_url = options_.database_url,
            .on_defect = [this](const std::string& what) { defect_.report(what); }};
  }

  HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.ca_file,
            .allow_private_hosts = options_.accounts.allow_private_hosts,
            .keeper = {.database_url = options_.database_url,
                       .on_defect = [this](const std::string& what) { defect_.report(what); }}};
  }

  PipelineOptions pipeline_options() {
    return {.database_url = options_.database_url,
            .source = source_,
            .decode_threads = options_.decode_threads,
            .in_flight = options_.in_flight,
            .format = format_of(options_.source),
            .on_finished = std::holds_alternative<TapSource>(options_.source)
                               ? [this](auto tickets) { tap_->on_finished(tickets); }
                               : writer::InFlightList::OnFinished(),
            .verification = verifying_ ? &verifying_->verification() : nullptr,
            .filter = &filter_};
  }

  std::unique_ptr<Intake> make_intake(const RelaySource& source) {
    return std::make_unique<FrameIntake>(pipeline_, source.endpoint,
                                         start_position(source.cursor, keeper_.saved()),
                                         [this] { keeper_.save_soon(); });
  }
  std::unique_ptr<Intake> make_intake(const TapSource& source) {
    auto intake = std::make_unique<TapIntake>(pipeline_, source);
    tap_ = intake.get();
    return intake;
  }
  std::unique_ptr<Intake> make_intake(const JetstreamSource& source) {
    return std::make_unique<JetstreamIntake>(pipeline_, source,
                                             start_position(source.cursor, keeper_.saved()),
                                             &filter_);
  }

  transport::StreamClientOptions client_options() {
    auto client = intake_->stream();
    client.ca_file = options_.ca_file;
    client.read_timeout = options_.read_timeout;
    client.clock = &clock_;
    return client;
  }

  const IndexerOptions options_;
  const Clock& clock_;
  const std::string source_;
  const bool verifies_;
  const Timestamp started_at_;
  Defect defect_;
  CurrentFilter filter_;
  ChainLog chain_;
  CursorKeeper keeper_;
  std::unique_ptr<NetworkAccounts> accounts_;
  std::unique_ptr<Verifying> verifying_;
  // Outlives the pipeline, which tells it what has finished.
  std::unique_ptr<Intake> intake_;
  TapIntake* tap_ = nullptr;
  Pipeline pipeline_;
  std::unique_ptr<Beside> history_;
  std::unique_ptr<transport::StreamClient> client_;
  std::unique_ptr<HandleLookups> handles_;
  std::unique_ptr<FilterWatch> filter_watch_;
};

Indexer::Indexer(IndexerOptions options, const Clock& clock) {
  check_database(options.database_url);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

Indexer::~Indexer() = default;

void Indexer::start() {
  impl_->start();
}

bool Indexer::stop() {
  return impl_->stop();
}

void Indexer::poke_history() {
  impl_->poke_history();
}

std::optional<HistoryMoment> Indexer::history() const {
  return impl_->history();
}

Figures Indexer::figures() const {
  return impl_->figures();
}

std::optional<std::string> Indexer::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
