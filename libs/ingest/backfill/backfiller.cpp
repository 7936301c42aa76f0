#include "backfill/backfiller.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "backfill/backfill_counters.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/repository/finish.hpp"
#include "backfill/repository/job_runner.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "writer/worker_services.hpp"

namespace skua::backfill {
namespace {

constexpr std::size_t kListsAtOnce = 4;

}  // namespace

class Backfiller::Impl final : private writer::Producer {
 public:
  Impl(postgres::Runtime& runtime, BackfillerOptions options, writer::WorkerPool& pool)
      : runtime_(runtime),
        options_(std::move(options)),
        pool_(pool),
        origin_(pool.add_source("backfill", *this)),
        disk_(spooled_bytes()),
        unfinished_(options_.chunk_bytes),
        readers_(options_.reader_threads),
        finisher_(runtime, options_.lease_owner, unfinished_, pool.ids(), counters_),
        http_(http_options()),
        jobs_(runtime, job_options(), job_services()),
        discoverer_(runtime, discoverer_options(), http_) {
    if (!options_.audit || !options_.only.empty()) return;
    Discoverer::Options audit = discoverer_options();
    audit.audit = options_.audit;
    audit_ = std::make_unique<Discoverer>(runtime, std::move(audit), http_);
  }

  ~Impl() override {
    close();
    stop();
  }

  void start() {
    jobs_.start();
    if (options_.only.empty()) discoverer_.start();
    if (audit_) audit_->start();
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    discoverer_.request_stop();
    if (audit_) audit_->request_stop();
    jobs_.request_stop();
    http_.stop();
    discoverer_.stop();
    if (audit_) audit_->stop();
    readers_.stop();
  }

  void stop() {
    if (std::exchange(stopped_, true)) return;
    finisher_.stop();
    jobs_.stop();
  }

  void notify() {
    discoverer_.notify();
    jobs_.notify();
  }
  // The discoverer must be checked first, because a list announces its jobs before it ends.
  bool is_idle() const {
    return (!options_.only.empty() || discoverer_.is_idle()) && jobs_.is_idle();
  }

  BackfillMetrics metrics() const {
    BackfillMetrics metrics{counters_};
    metrics.records = written_.events;
    metrics.rows = written_.rows;
    metrics.dead_letters = written_.dead_letters;
    metrics.transactions = written_.transactions;
    metrics.hosts = jobs_.hosts();
    metrics.discovery = discoverer_.metrics();
    if (audit_) metrics.discovery.behind = audit_->metrics().behind;
    return metrics;
  }

 private:
  void written(std::span<const event::Chunk* const> chunks) override {
    for (const event::Chunk* chunk : chunks) unfinished_.written(chunk->repository, chunk->bytes);
  }
  bool is_crowded() const override { return false; }
  writer::Counters& counters() override { return written_; }

  /// The space suffices for four of the largest repositories at once, two of them from one site.
  std::uint64_t spooled_bytes() const {
    return std::max(std::uint64_t{16} << 30, std::uint64_t{4} * options_.largest_repository);
  }

  JobRunner::Options job_options() const {
    return {.lease_owner = options_.lease_owner,
            .limits = options_.limits,
            .held_bytes = options_.held_bytes,
            .resync = options_.resync,
            .only = options_.only,
            .max_attempts = options_.max_attempts};
  }

  JobServices job_services() {
    return {.find_account = options_.find_account,
            .account_failure = options_.account_failure,
            .verify = options_.verify,
            .download = {.largest_repository = options_.largest_repository},
            .http = http_,
            .disk = disk_,
            .readers = readers_,
            .unfinished = unfinished_,
            .counters = counters_,
            .clock = runtime_.clocks.latest,
            .jobs_clock = runtime_.clocks.server,
            .origin = origin_,
            .push_chunk = [this](event::Chunk chunk) { pool_.push(std::move(chunk)); }};
  }

  Discoverer::Options discoverer_options() {
    return {.lease_owner = options_.lease_owner,
            .allow_private_hosts = options_.http.allow_private_hosts,
            .threads = kListsAtOnce,
            .on_jobs = [this] { jobs_.notify(); }};
  }

  /// The lists have a client of their own, so that they do not wait for downloads.
  transport::HttpClientOptions http_options() const {
    transport::HttpClientOptions http = options_.http;
    http.max_at_once = options_.limits.in_all + kListsAtOnce * (options_.audit ? 2 : 1);
    http.idle_of_one_origin = static_cast<std::size_t>(options_.limits.host.at_most);
    return http;
  }

  postgres::Runtime& runtime_;
  const BackfillerOptions options_;
  writer::WorkerPool& pool_;
  const std::uint32_t origin_;
  writer::Counters written_;
  // Later members use earlier members. For example, the stored CARs are destroyed before the budget
  // that counts their bytes.
  BackfillCounters counters_;
  SpoolBudget disk_;
  UnfinishedRepositories unfinished_;
  ReaderThreads readers_;
  Finisher finisher_;
  transport::HttpClient http_;
  JobRunner jobs_;
  Discoverer discoverer_;
  /// It is null if there are no audits.
  std::unique_ptr<Discoverer> audit_;
  bool closed_ = false;
  bool stopped_ = false;
};

Backfiller::Backfiller(postgres::Runtime& runtime, BackfillerOptions options,
                       writer::WorkerPool& pool)
    : impl_(std::make_unique<Impl>(runtime, std::move(options), pool)) {}

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
