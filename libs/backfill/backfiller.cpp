#include "backfill/backfiller.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backfill/repository/finisher.hpp"
#include "backfill/repository/repository_reader.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "writer/bulk_pool.hpp"
#include "writer/bulk_writer.hpp"

namespace skua::backfill {
namespace {

constexpr std::size_t kListsAtOnce = 4;

}  // namespace

class Backfiller::Impl {
 public:
  Impl(BackfillerOptions options, resolve::SharedIds& ids,
       writer::LiveBackpressure& live_backpressure, const Clock& clock,
       std::function<void(const std::string&)> on_defect)
      : options_(std::move(options)),
        on_defect_(std::move(on_defect)),
        jobs_clock_(options_.jobs_clock != nullptr ? *options_.jobs_clock : clock),
        fetcher_(fetcher_options(), http_, jobs_clock_),
        unfinished_(options_.chunk_bytes),
        services_{.database_url = options_.database_url,
                  .writer = writer_,
                  .ids = ids,
                  .live_backpressure = live_backpressure,
                  .counters = counters_,
                  .clock = clock,
                  .pace = monotonic_clock(),
                  .on_written =
                      [this](const writer::BulkWritten& chunk) {
                        unfinished_.written(chunk.repository, chunk.bytes);
                      },
                  .on_defect = on_defect_},
        pool_(services_, options_.is_alone),
        reader_(reader_options(), unfinished_, clock),
        finisher_(finisher_options(), unfinished_, ids, jobs_clock_),
        http_(http_options()),
        discoverer_(discoverer_options(), http_, jobs_clock_) {
    if (!options_.audit || !options_.only.empty()) return;
    Discoverer::Options audit = discoverer_options();
    audit.audit = options_.audit;
    audit_ = std::make_unique<Discoverer>(std::move(audit), http_, jobs_clock_);
  }

  ~Impl() { stop(); }

  void start() {
    fetcher_.start();
    if (options_.only.empty()) discoverer_.start();
    if (audit_) audit_->start();
  }

  void stop() {
    if (std::exchange(stopped_, true)) return;
    discoverer_.request_stop();
    if (audit_) audit_->request_stop();
    fetcher_.request_stop();
    http_.stop();
    discoverer_.stop();
    if (audit_) audit_->stop();
    reader_.stop();
    pool_.abandon();
    finisher_.stop();
    fetcher_.stop();
  }

  void notify() {
    discoverer_.notify();
    fetcher_.notify();
  }
  // In this order: a list that has come to its end has told the fetcher of its jobs.
  bool is_idle() const {
    return (!options_.only.empty() || discoverer_.is_idle()) && fetcher_.is_idle();
  }

  BackfillMetrics metrics() const {
    const FetchCounters& fetched = fetcher_.counters();
    BackfillMetrics metrics;
    metrics.repositories = repositories_;
    metrics.records = counters_.events;
    metrics.rows = counters_.rows;
    metrics.removed = removed_;
    metrics.bytes = fetched.bytes;
    metrics.failed = fetched.failed;
    metrics.given_up = fetched.given_up;
    metrics.unavailable = fetched.unavailable;
    metrics.postponed = fetched.postponed;
    metrics.dead_letters = counters_.dead_letters;
    metrics.transactions = counters_.transactions;
    metrics.in_hand = fetched.in_hand;
    metrics.hosts = fetcher_.hosts();
    metrics.discovery = discoverer_.metrics();
    return metrics;
  }

 private:
  Fetcher::Options fetcher_options() {
    return {.database_url = options_.database_url,
            .holder = options_.holder,
            .find_document = options_.find_document,
            .document_failure = options_.document_failure,
            .verify = options_.verify,
            .limits = options_.limits,
            .held_bytes = options_.held_bytes,
            .largest_repository = options_.largest_repository,
            // Four of the largest at once: two of one site.
            .spooled_bytes =
                std::max(std::uint64_t{16} << 30, std::uint64_t{4} * options_.largest_repository),
            .resync = options_.resync,
            .only = options_.only,
            .max_attempts = options_.max_attempts,
            .sink = [this](FetchedRepository fetched) { reader_.push(std::move(fetched)); },
            .on_defect = on_defect_};
  }

  Discoverer::Options discoverer_options() {
    return {.database_url = options_.database_url,
            .holder = options_.holder,
            .allow_private_hosts = options_.http.allow_private_hosts,
            .threads = kListsAtOnce,
            .on_jobs = [this] { fetcher_.notify(); },
            .on_defect = on_defect_};
  }

  /// Lists do not wait for downloads.
  transport::HttpClientOptions http_options() const {
    transport::HttpClientOptions http = options_.http;
    http.max_at_once = options_.limits.in_all + kListsAtOnce * (options_.audit ? 2 : 1);
    http.idle_of_one_origin = options_.limits.host.at_most;
    return http;
  }

  RepositoryReader::Options reader_options() {
    return {.threads = options_.reader_threads,
            .sink = [this](event::UnresolvedBulk chunk) { pool_.push(std::move(chunk)); },
            .on_failed = [this](const Job& job,
                                const std::string& words) { fetcher_.failed(job, words); },
            .on_other_key =
                [this](FetchedRepository fetched) { fetcher_.other_key(std::move(fetched)); },
            .on_defect = on_defect_};
  }

  Finisher::Options finisher_options() {
    return {.database_url = options_.database_url,
            .holder = options_.holder,
            .on_done =
                [this](std::size_t repositories, std::size_t removed) {
                  repositories_ += repositories;
                  removed_ += removed;
                  fetcher_.ended(repositories);
                },
            .on_failed = [this](const Job& job,
                                const std::string& words) { fetcher_.failed(job, words); },
            .on_lost = [this](const Job&) { fetcher_.ended(1); },
            .on_defect = on_defect_};
  }

  const BackfillerOptions options_;
  const std::function<void(const std::string&)> on_defect_;
  const Clock& jobs_clock_;
  std::atomic<std::uint64_t> repositories_{0};
  std::atomic<std::uint64_t> removed_{0};
  writer::Counters counters_;
  // In the order in which they use each other: what holds CARs goes before who counts their bytes.
  Fetcher fetcher_;
  UnfinishedRepositories unfinished_;
  const writer::BulkWriter writer_{"backfill"};
  writer::BulkServices services_;
  writer::BulkPool pool_;
  RepositoryReader reader_;
  Finisher finisher_;
  transport::HttpClient http_;
  Discoverer discoverer_;
  /// Null: there are no audits.
  std::unique_ptr<Discoverer> audit_;
  bool stopped_ = false;
};

Backfiller::Backfiller(BackfillerOptions options, resolve::SharedIds& ids,
                       writer::LiveBackpressure& live_backpressure, const Clock& clock,
                       std::function<void(const std::string&)> on_defect)
    : impl_(std::make_unique<Impl>(std::move(options), ids, live_backpressure, clock,
                                   std::move(on_defect))) {}

Backfiller::~Backfiller() = default;

void Backfiller::start() {
  impl_->start();
}

void Backfiller::stop() {
  impl_->stop();
}

void Backfiller::notify() {
  impl_->notify();
}

bool Backfiller::is_idle() const {
  return impl_->is_idle();
}

BackfillMetrics Backfiller::metrics() const {
  return impl_->metrics();
}

}  // namespace skua::backfill
