#include "app/indexer.hpp"

#include <utility>

#include "app/cursor_keeper.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/frame_intake.hpp"
#include "app/handle_lookups.hpp"
#include "app/pipeline.hpp"
#include "app/verifying.hpp"

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

}  // namespace

std::string source_name(const transport::Endpoint& relay) {
  return "relay:" + relay.authority();
}

class Indexer::Impl {
 public:
  Impl(IndexerOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        source_(source_name(options_.relay)),
        started_at_(clock.now()),
        keeper_({.database_url = options_.database_url,
                 .source = source_,
                 .interval = options_.cursor_interval,
                 .chain = options_.verify ? &chain_ : nullptr,
                 .resync = options_.resync},
                clock),
        accounts_(options_.verify ? std::make_unique<NetworkAccounts>(options_.accounts, clock)
                                  : nullptr),
        verifying_(accounts_ ? std::make_unique<Verifying>(*accounts_, &chain_, *options_.verify,
                                                           lookup_options())
                             : nullptr),
        pipeline_({options_.database_url, source_, options_.decode_threads, options_.in_flight,
                   verifying_ ? &verifying_->verification() : nullptr},
                  clock, [this](const std::string& what) { defect_.report(what); }),
        intake_(pipeline_, options_.relay.url(), start_position(options_.cursor, keeper_.saved()),
                [this] { keeper_.save_soon(); }),
        relay_(relay_options(), intake_) {
    if (options_.check_handles) handles_ = std::make_unique<HandleLookups>(handle_options(), clock);
  }

  void start() {
    keeper_.start({.watermark = [this] { return pipeline_.watermark(); },
                   .first_unfinished = [this] { return pipeline_.first_unfinished(); },
                   .figures = [this] { return to_json(figures()); }},
                  [this](const std::string& what) { defect_.report(what); });
    relay_.start();
  }

  bool stop() {
    relay_.stop();
    // After a defect a worker is gone, and what it had is never finished.
    const auto patience = defect() ? std::chrono::milliseconds(0) : options_.drain_timeout;
    const bool drained = pipeline_.drain(std::chrono::steady_clock::now() + patience);
    if (verifying_) verifying_->stop();
    if (handles_) handles_->stop();
    const bool saved = keeper_.stop();
    return drained && saved;
  }

  Figures figures() const {
    Figures figures = pipeline_figures(pipeline_, source_, started_at_, clock_.now());
    figures.connected = intake_.connected();
    const std::uint64_t connections = relay_.statistics().connections;
    figures.reconnects = connections > 0 ? connections - 1 : 0;
    figures.skipped = intake_.skipped();
    figures.restarts = intake_.restarts();
    if (!figures.cursor) figures.cursor = keeper_.saved();
    if (handles_) {
      figures.handles_valid = handles_->counters().valid;
      figures.handles_invalid = handles_->counters().invalid;
      figures.handles_failed = handles_->counters().failed;
    }
    return figures;
  }

  std::optional<std::string> defect() const { return defect_.get(); }

 private:
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

  transport::RelayClientOptions relay_options() {
    transport::RelayClientOptions relay;
    relay.endpoint = options_.relay;
    relay.cursor = [this] { return intake_.position(); };
    relay.ca_file = options_.ca_file;
    relay.read_timeout = options_.read_timeout;
    relay.clock = &clock_;
    return relay;
  }

  const IndexerOptions options_;
  const Clock& clock_;
  const std::string source_;
  const Timestamp started_at_;
  Defect defect_;
  ChainLog chain_;
  CursorKeeper keeper_;
  std::unique_ptr<NetworkAccounts> accounts_;
  std::unique_ptr<Verifying> verifying_;
  Pipeline pipeline_;
  FrameIntake intake_;
  transport::RelayClient relay_;
  std::unique_ptr<HandleLookups> handles_;
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

Figures Indexer::figures() const {
  return impl_->figures();
}

std::optional<std::string> Indexer::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
