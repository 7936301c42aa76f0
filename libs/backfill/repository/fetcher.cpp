#include "backfill/repository/fetcher.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "backfill/discovery/host_table.hpp"
#include "backfill/hosts/host_outcome.hpp"
#include "backfill/hosts/host_site.hpp"
#include "backfill/repository/repo_answer.hpp"
#include "base/log.hpp"
#include "base/seeded_hash.hpp"
#include "identity/errc.hpp"
#include "store/outage.hpp"
#include "store/repository_table.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTick{100};
/// How long nothing is claimed when there was nothing to be had.
constexpr milliseconds kClaimQuiet{1'000};
constexpr seconds kRenewEvery{30};
constexpr seconds kResyncEvery{5};
/// A resync that came to nothing is due again after it.
constexpr seconds kResyncLease{3'600};
constexpr std::size_t kResyncsAtOnce = 500;
/// Jobs that ended badly days ago: few at a time, they are not urgent.
constexpr seconds kRareRetriesEvery{60};
constexpr std::size_t kRareRetriesAtOnce = 200;
constexpr std::size_t kClaimJobs = 200;
/// Jobs between their claim and their end, besides those whose host is looked for: what a process
/// that is killed has to do again.
constexpr std::size_t kInHandAtOnce = 400;
/// Accounts whose host is looked for.
constexpr std::size_t kUnknownAtOnce = 1'000;
constexpr std::size_t kHostsAtOnce = 1'000;
constexpr std::size_t kShownHosts = 20;
/// Larger bodies go to a file.
constexpr std::size_t kSpoolAbove = std::size_t{8} << 20;
/// A host that says "too often" without saying how long: its pace says when it is asked again.
constexpr seconds kFetchUnsaidWait{5};

/// How long a job waits for room on the disk.
constexpr seconds kNoRoomWait{60};

/// Whether a question ended because this process stops. That is no failure: its job stays ours, and
/// is queued again as if it had never begun.
bool is_our_stop(const ErrorCode& error) {
  return error == identity::errc::stopped || error == transport::errc::http_stopped;
}

std::string error_message(int error) {
  return std::generic_category().message(error);
}

}  // namespace

Fetcher::Fetcher(Options options, transport::HttpClient& http, const Clock& clock)
    : options_(std::move(options)),
      http_(http),
      clock_(clock),
      disk_(options_.spooled_bytes),
      limits_(options_.limits) {}

Fetcher::~Fetcher() {
  stop();
}

void Fetcher::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Fetcher::request_stop() {
  thread_.request_stop();
}

void Fetcher::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  try {
    // What ended because we stop is no attempt: all that is not done is as if it never began.
    release_jobs(session(), options_.holder);
  } catch (const store::SqlError& error) {
    logger("backfill")
        ->warn("jobs were not released; they return to the queue when their leases expire: {}",
               error.what());
  }
}

void Fetcher::notify() {
  const std::scoped_lock lock(mutex_);
  notified_ = true;
  idle_ = false;
  wake_.notify_one();
}

void Fetcher::post(Task task) {
  const std::scoped_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  wake_.notify_one();
}

void Fetcher::failed(const Job& job, const std::string& words) {
  auto& which = job.file ? hopeless_ : failed_;
  post([&which, did = job.did, words] { which.push_back({did, words}); });
}

void Fetcher::other_key(FetchedRepository fetched) {
  auto kept = std::make_shared<FetchedRepository>(std::move(fetched));
  post([this, kept] {
    with_document(std::move(*kept), true, [this](FetchedRepository again) {
      again.document_is_fresh = true;
      options_.sink(std::move(again));
    });
  });
}

void Fetcher::ended(std::size_t jobs) {
  counters_.in_hand -= jobs;
  notify();
}

std::vector<HostMetrics> Fetcher::hosts() const {
  const std::scoped_lock lock(mutex_);
  return host_metrics_;
}

void Fetcher::run(const std::stop_token& stop) {
  bool was_down = false;
  while (!stop.stop_requested()) {
    auto pause = kTick;
    try {
      step();
      was_down = false;
    } catch (const store::ServerError& error) {
      was_down = true;
      store::log_retry("backfill", "jobs cannot be taken or ended", error);
      session_.reset();
      pause = kClaimQuiet;
    } catch (const std::exception& error) {
      return options_.on_defect(std::string("fetching repositories: ") + error.what());
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, pause, [&] { return !was_down && (notified_ || !tasks_.empty()); });
  }
}

void Fetcher::step() {
  run_tasks();
  const Timestamp now = pace_.now();
  if (!std::exchange(took_orphans_, true)) {
    try {
      take_back_orphans(session(), clock_.now());
    } catch (...) {
      took_orphans_ = false;
      throw;
    }
  }
  flush();
  keep_leases();
  if (options_.resync) queue_resyncs();
  if (options_.only.empty()) queue_rare_retries();
  bool notified = false;
  auto metrics = host_metrics();
  {
    const std::scoped_lock lock(mutex_);
    notified = std::exchange(notified_, false);
    host_metrics_ = std::move(metrics);
  }
  if (!notified && now < next_claim_) return;
  const bool unknown = claim_unknown();
  const bool files = claim_files();
  const bool hosts = claim_hosts();
  const bool found = unknown || files || hosts;
  const bool idle =
      !found && counters_.in_hand == 0 &&
      !(options_.only.empty() ? jobs_remain(session()) : jobs_remain_of(session(), options_.only));
  {
    // What was added since this looked is not forgotten.
    const std::scoped_lock lock(mutex_);
    idle_ = idle && !notified_;
  }
  next_claim_ = found ? Timestamp() : now + kClaimQuiet;
}

std::vector<HostMetrics> Fetcher::host_metrics() const {
  std::vector<HostMetrics> metrics = limits_.metrics(kShownHosts, pace_.now());
  const auto difference = clock_.now() - pace_.now();
  for (HostMetrics& host : metrics) {
    if (host.waits_until) *host.waits_until += difference;
  }
  return metrics;
}

void Fetcher::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::scoped_lock lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) task();
}

void Fetcher::flush() {
  const Timestamp now = clock_.now();
  const auto write = [&](auto& pending, auto&& into_table) {
    if (pending.empty()) return;
    into_table();
    counters_.in_hand -= pending.size();
    pending.clear();
    next_claim_ = Timestamp();
  };
  write(moved_, [&] { set_hosts(session(), moved_, options_.holder, now); });
  write(postponed_, [&] {
    jobs_postponed(session(), postponed_, options_.holder, now);
    counters_.postponed += postponed_.size();
  });
  write(unavailable_, [&] {
    jobs_unavailable(session(), unavailable_, options_.holder, now);
    counters_.unavailable += unavailable_.size();
    // A resync that somebody waits for comes to nothing.
    for (const JobError& job : unavailable_) {
      store::resync_failed(session(), job.did, job.words, now);
    }
  });
  write(failed_, [&] {
    counters_.given_up +=
        jobs_failed(session(), failed_, options_.holder, now, options_.max_attempts);
    counters_.failed += failed_.size();
  });
  write(hopeless_, [&] {
    counters_.given_up += jobs_failed(session(), hopeless_, options_.holder, now, 1);
    counters_.failed += hopeless_.size();
  });
}

void Fetcher::keep_leases() {
  if (pace_.now() < next_lease_) return;
  const Timestamp now = clock_.now();
  renew_leases(session(), {options_.holder, now});
  take_back_expired(session(), now);
  next_lease_ = pace_.now() + kRenewEvery;
}

void Fetcher::queue_resyncs() {
  if (pace_.now() < next_resync_) return;
  next_resync_ = pace_.now() + kResyncEvery;
  const Timestamp now = clock_.now();
  const std::vector<std::string> due =
      store::take_due_resyncs(session(), now, kResyncLease, kResyncsAtOnce);
  if (due.empty()) return;
  std::vector<NewJob> jobs;
  jobs.reserve(due.size());
  for (const std::string& did : due) jobs.push_back({did});
  add_jobs(session(), jobs, Again::Yes, now);
  notify();
}

void Fetcher::queue_rare_retries() {
  if (pace_.now() < next_rare_retries_) return;
  next_rare_retries_ = pace_.now() + kRareRetriesEvery;
  if (retry_rarely(session(), clock_.now(), kRareRetriesAtOnce) > 0) notify();
}

std::vector<FetchedRepository> Fetcher::take_in_hand(std::vector<Job> jobs) {
  counters_.in_hand += jobs.size();
  std::vector<std::string> dids;
  dids.reserve(jobs.size());
  for (const Job& job : jobs) dids.push_back(job.did);
  // Before anything is asked for: what is let through from now on is not missed.
  const store::FilterState state = store::load_filter_state(session());
  if (!filter_ || filter_->version() != state.version) filter_ = store::load_filter(session());
  boost::unordered_flat_map<std::string, store::RepositoryRow, SeededHash> rows;
  for (store::RepositoryRow& row : store::load_repositories(session(), dids)) {
    std::string did = row.did;
    rows.emplace(std::move(did), std::move(row));
  }
  std::vector<FetchedRepository> taken;
  for (Job& job : jobs) {
    FetchedRepository& fetched = taken.emplace_back();
    if (const auto row = rows.find(job.did); row != rows.end()) {
      if (row->second.head) fetched.known = row->second.head->rev;
      fetched.wants_whole = row->second.wants_whole;
    }
    fetched.filter = filter_;
    fetched.filter_version = state.settled;
    fetched.job = std::move(job);
  }
  return taken;
}

std::vector<Job> Fetcher::claim(const Place& place, std::size_t limit) {
  Claim claim{options_.holder, clock_.now()};
  claim.only = options_.only;
  return claim_jobs(session(), place, limit, claim);
}

bool Fetcher::claim_unknown() {
  if (!options_.find_document || finding_hosts_ >= kUnknownAtOnce) return false;
  auto jobs = claim(Place::unknown(), kClaimJobs);
  if (jobs.empty()) return false;
  finding_hosts_ += jobs.size();
  for (FetchedRepository& fetched : take_in_hand(std::move(jobs))) find_host(std::move(fetched));
  return true;
}

bool Fetcher::has_room() const {
  return counters_.held_bytes < options_.held_bytes &&
         counters_.in_hand - finding_hosts_ < kInHandAtOnce;
}

bool Fetcher::claim_files() {
  if (!has_room()) return false;
  auto jobs = claim(Place::file(), kClaimJobs);
  if (jobs.empty()) return false;
  for (FetchedRepository& fetched : take_in_hand(std::move(jobs))) {
    with_document(std::move(fetched), false,
                  [this](FetchedRepository found) { open_file(std::move(found)); });
  }
  return true;
}

bool Fetcher::claim_hosts() {
  if (!has_room()) return false;
  const Timestamp now = clock_.now();
  std::vector<std::string> hosts = options_.only.empty()
                                       ? due_hosts(session(), now, kHostsAtOnce, last_host_)
                                       : due_hosts_of(session(), options_.only, now);
  if (!hosts.empty()) operator_hosts_ = operator_hosts(session());
  // In turns, where there are more than are looked at in one go.
  last_host_ = hosts.size() < kHostsAtOnce ? std::string() : hosts.back();
  bool any = false;
  for (const HostSlots& slots : limits_.free_slots(hosts, pace_.now())) {
    auto jobs = claim(Place::at(slots.host), slots.count);
    if (jobs.empty()) continue;
    any = true;
    for (FetchedRepository& fetched : take_in_hand(std::move(jobs))) {
      fetched.started_at = pace_.now();
      limits_.started(slots.host, fetched.started_at);
      with_document(std::move(fetched), false,
                    [this](FetchedRepository found) { download(std::move(found)); });
    }
  }
  return any;
}

void Fetcher::find_host(FetchedRepository fetched) {
  ask_document(std::move(fetched), false, [this](FetchedRepository found) {
    --finding_hosts_;
    if (found.document->pds.empty()) {
      failed_.push_back({found.job.did, "the account's document names no PDS"});
    } else {
      moved_.push_back({found.job.did, found.document->pds});
    }
  });
}

void Fetcher::with_document(FetchedRepository fetched, bool fresh,
                            std::function<void(FetchedRepository)> next) {
  if (!options_.find_document || !options_.verify) return next(std::move(fetched));
  ask_document(std::move(fetched), fresh, std::move(next));
}

void Fetcher::ask_document(FetchedRepository fetched, bool fresh,
                           std::function<void(FetchedRepository)> next) {
  const std::string did = fetched.job.did;
  const auto kept = std::make_shared<FetchedRepository>(std::move(fetched));
  options_.find_document(did, fresh,
                         [this, kept, next = std::move(next)](Result<AccountDocument> found) {
                           post([this, kept, next, found = std::move(found)]() mutable {
                             if (!found) return no_document(*kept, found.error());
                             kept->document = *std::move(found);
                             next(std::move(*kept));
                           });
                         });
}

void Fetcher::no_document(const FetchedRepository& fetched, const ErrorCode& error) {
  if (fetched.job.host && !fetched.bytes) free_place(fetched, {.end = HostOutcome::End::Ours});
  if (!fetched.job.host && !fetched.job.file) --finding_hosts_;
  if (is_our_stop(error)) return;
  const std::string words =
      "the account's key cannot be had: " + (options_.document_failure
                                                 ? options_.document_failure(fetched.job.did, error)
                                                 : error.message());
  const bool is_gone =
      error == identity::errc::did_not_found || error == identity::errc::did_tombstoned;
  (is_gone ? unavailable_ : failed_).push_back({fetched.job.did, words});
}

void Fetcher::free_place(const FetchedRepository& fetched, HostOutcome outcome) {
  outcome.started_at = fetched.started_at;
  limits_.finished(*fetched.job.host, outcome, pace_.now());
  // The next job for this place is claimed now, not when this one has been written.
  if (outcome.end != HostOutcome::End::Ours) next_claim_ = Timestamp();
}

void Fetcher::open_file(FetchedRepository fetched) {
  const std::string& name = *fetched.job.file;
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size == 0) {
    const std::string words =
        file >= 0 && status.st_size == 0 ? "it is empty" : error_message(errno);
    if (file >= 0) ::close(file);
    hopeless_.push_back({fetched.job.did, fmt::format("{} cannot be read: {}", name, words)});
    return;
  }
  auto mapped = transport::SpooledBody::map(file, static_cast<std::size_t>(status.st_size));
  ::close(file);
  if (!mapped) {
    hopeless_.push_back(
        {fetched.job.did, fmt::format("{} cannot be read: {}", name, mapped.error().message())});
    return;
  }
  fetched.car = (*mapped)->view();
  fetched.mapped = mapped->get();
  hand_on(std::move(fetched), held_car({}), *std::move(mapped));
}

void Fetcher::download(FetchedRepository fetched) {
  // Who hosts an account stands in its document, whatever a list said.
  if (fetched.document && !fetched.document->pds.empty() &&
      fetched.document->pds != *fetched.job.host) {
    free_place(fetched, {.end = HostOutcome::End::Ours});
    moved_.push_back({fetched.job.did, fetched.document->pds});
    return;
  }
  fetched.is_partial = fetched.job.since && fetched.known && *fetched.job.since <= *fetched.known &&
                       !fetched.wants_whole;
  transport::HttpRequest request;
  request.url = get_repo_url(*fetched.job.host, fetched.job.did,
                             fetched.is_partial ? fetched.job.since : std::nullopt);
  if (std::binary_search(operator_hosts_.begin(), operator_hosts_.end(), *fetched.job.host)) {
    request.origin = transport::HostOrigin::configured;
  }
  request.max_body_bytes = options_.largest_repository;
  request.spool_above = kSpoolAbove;
  request.min_bytes_per_second = options_.slowest;
  request.min_average_bytes_per_second = options_.slowest_on_average;
  // Of a few bytes compression makes as many as somebody likes.
  request.plain = true;
  const auto held = held_car(site_of_origin(*fetched.job.host));
  request.may_hold = [held](std::size_t bytes) { return held->add(bytes); };
  request.on_bytes = [this](std::size_t bytes) { counters_.bytes += bytes; };
  const auto kept = std::make_shared<FetchedRepository>(std::move(fetched));
  const auto started_at = SteadyClock::now();
  http_.get(std::move(request),
            [this, kept, held, started_at](Result<transport::HttpAnswer> answer) {
              const auto came = std::make_shared<Result<transport::HttpAnswer>>(std::move(answer));
              post([this, kept, held, started_at, came] {
                downloaded(std::move(*kept), std::move(*came), held, started_at);
              });
            });
}

void Fetcher::downloaded(FetchedRepository fetched, Result<transport::HttpAnswer> answer,
                         std::shared_ptr<HeldCar> held, SteadyClock::time_point started_at) {
  const Timestamp now = clock_.now();
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - started_at);
  free_place(fetched, host_outcome(answer, took, now));
  if (!answer && is_our_stop(answer.error())) return;
  const std::string& host = *fetched.job.host;
  if (!answer && answer.error() == transport::errc::http_no_room) {
    postponed_.push_back({fetched.job.did, host + ": " + failure_message(answer), kNoRoomWait});
    return;
  }
  const RepoAnswer meaning = classify_repo_answer(answer, now);
  if (const auto* unavailable = std::get_if<RepoUnavailable>(&meaning)) {
    not_here(std::move(fetched), unavailable->words);
  } else if (const auto* limited = std::get_if<HostLimited>(&meaning)) {
    postponed_.push_back(
        {fetched.job.did, host + ": " + kLimitedText, limited->wait.value_or(kFetchUnsaidWait)});
  } else if (const auto* failure = std::get_if<RequestFailed>(&meaning)) {
    failed_.push_back(
        {fetched.job.did, host + ": " + failure->words, failure->wait.value_or(seconds(0))});
  } else {
    auto body = std::make_shared<transport::HttpAnswer>(*std::move(answer));
    fetched.car = transport::body_of(*body);
    fetched.mapped = body->spooled.get();
    hand_on(std::move(fetched), held, std::move(body));
  }
}

void Fetcher::not_here(FetchedRepository fetched, const std::string& words) {
  if (!fetched.document || fetched.document_is_fresh) {
    unavailable_.push_back({fetched.job.did, words});
    return;
  }
  // A host that the account has left says so too, and what we remember may be from before.
  const auto kept = std::make_shared<FetchedRepository>(std::move(fetched));
  options_.find_document(kept->job.did, true,
                         [this, kept, words](const Result<AccountDocument>& found) {
                           if (!found && is_our_stop(found.error())) return;
                           const std::string pds = found ? found->pds : std::string();
                           post([this, kept, words, pds] {
                             if (pds.empty() || pds == *kept->job.host) {
                               unavailable_.push_back({kept->job.did, words});
                             } else {
                               moved_.push_back({kept->job.did, pds});
                             }
                           });
                         });
}

std::shared_ptr<HeldCar> Fetcher::held_car(const std::string& site) {
  return std::make_shared<HeldCar>(counters_.held_bytes, disk_, site, kSpoolAbove);
}

void Fetcher::hand_on(FetchedRepository fetched, const std::shared_ptr<HeldCar>& held,
                      std::shared_ptr<const void> bytes) {
  held->keep(std::move(bytes), fetched.car.size());
  fetched.bytes = held;
  counters_.repositories += 1;
  options_.sink(std::move(fetched));
}

store::Session& Fetcher::session() {
  if (!session_ || !session_->connected()) {
    session_ = std::make_unique<store::Session>(options_.database_url, options_.holder);
  }
  return *session_;
}

}  // namespace skua::backfill
