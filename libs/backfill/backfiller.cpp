#include "backfill/backfiller.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "backfill/repository/finisher.hpp"
#include "backfill/repository/repository_reader.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "writer/producer.hpp"

namespace skua::backfill {
namespace {

constexpr std::size_t kListsAtOnce = 4;

}  // namespace

class Backfiller::Impl final : private writer::Producer {
 public:
  Impl(BackfillerOptions options, writer::WorkerPool& pool, const Clock& clock,
       std::function<void(const std::string&)> on_defect)
      : options_(std::move(options)),
        on_defect_(std::move(on_defect)),
        pool_(pool),
        origin_(pool.add_source("backfill", *this)),
        jobs_clock_(options_.jobs_clock != nullptr ? *options_.jobs_clock : clock),
        fetcher_(fetcher_options(), http_, jobs_clock_),
        unfinished_(options_.chunk_bytes),
        reader_(reader_options(), unfinished_, clock),
        finisher_(finisher_options(), unfinished_, pool.ids(), jobs_clock_),
        http_(http_options()),
        discoverer_(discoverer_options(), http_, jobs_clock_) {
    if (!options_.audit || !options_.only.empty()) return;
    Discoverer::Options audit = discoverer_options();
    audit.audit = options_.audit;
    audit_ = std::make_unique<Discoverer>(std::move(audit), http_, jobs_clock_);
  }

  ~Impl() override {
    close();
    stop();
  }

  void start() {
    fetcher_.start();
    if (options_.only.empty()) discoverer_.start();
    if (audit_) audit_->start();
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    discoverer_.request_stop();
    if (audit_) audit_->request_stop();
    fetcher_.request_stop();
    http_.stop();
    discoverer_.stop();
    if (audit_) audit_->stop();
    reader_.stop();
  }

  void stop() {
    if (std::exchange(stopped_, true)) return;
    finisher_.stop();
    fetcher_.stop();
  }

  void notify() {
    discoverer_.notify();
    fetcher_.notify();
  }
  // In this order: before a list ends, it has announced its jobs to the fetcher.
  bool is_idle() const {
    return (!options_.only.empty() || discoverer_.is_idle()) && fetcher_.is_idle();
  }

  BackfillMetrics metrics() const {
    const FetchCounters& fetched = fetcher_.counters();
    BackfillMetrics metrics = counted_;
    metrics.records = counters_.events;
    metrics.rows = counters_.rows;
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
    if (audit_) metrics.discovery.behind = audit_->metrics().behind;
    return metrics;
  }

 private:
  void written(std::span<const event::Chunk* const> chunks) override {
    for (const event::Chunk* chunk : chunks) unfinished_.written(chunk->repository, chunk->bytes);
  }
  bool is_crowded() const override { return false; }
  writer::Counters& counters() override { return counters_; }

  Fetcher::Options fetcher_options() {
    return {.database_url = options_.database_url,
            .holder = options_.holder,
            .find_document = options_.find_document,
            .document_failure = options_.document_failure,
            .verify = options_.verify,
            .limits = options_.limits,
            .held_bytes = options_.held_bytes,
            .largest_repository = options_.largest_repository,
            // Room for four of the largest repositories: two of one site.
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

  /// A client of its own, so that lists do not wait for downloads.
  transport::HttpClientOptions http_options() const {
    transport::HttpClientOptions http = options_.http;
    http.max_at_once = options_.limits.in_all + kListsAtOnce * (options_.audit ? 2 : 1);
    http.idle_of_one_origin = options_.limits.host.at_most;
    return http;
  }

  RepositoryReader::Options reader_options() {
    return {.threads = options_.reader_threads,
            .origin = origin_,
            .sink = [this](event::Chunk chunk) { pool_.push(std::move(chunk)); },
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
                  counted_.repositories += repositories;
                  counted_.removed += removed;
                  fetcher_.ended(repositories);
                },
            .on_failed = [this](const Job& job,
                                const std::string& words) { fetcher_.failed(job, words); },
            .on_lost = [this](const Job&) { fetcher_.ended(1); },
            .on_defect = on_defect_};
  }

  const BackfillerOptions options_;
  const std::function<void(const std::string&)> on_defect_;
  writer::WorkerPool& pool_;
  const std::uint32_t origin_;
  const Clock& jobs_clock_;
  /// Repositories and removed rows; `metrics` adds what the other parts count.
  BackfillMetrics counted_;
  writer::Counters counters_;
  // Later members use earlier ones: the stored CARs are destroyed before the budget that counts
  // their bytes.
  Fetcher fetcher_;
  UnfinishedRepositories unfinished_;
  RepositoryReader reader_;
  Finisher finisher_;
  transport::HttpClient http_;
  Discoverer discoverer_;
  /// Null: there are no audits.
  std::unique_ptr<Discoverer> audit_;
  bool closed_ = false;
  bool stopped_ = false;
};

Backfiller::Backfiller(BackfillerOptions options, writer::WorkerPool& pool, const Clock& clock,
                       std::function<void(const std::string&)> on_defect)
    : impl_(std::make_unique<Impl>(std::move(options), pool, clock, std::move(on_defect))) {}

Backfiller::~Backfiller() = default;

void Backfiller::start() {
  impl_->start();
}

void Backfiller::close() {
  impl_->close();
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
