#include "accounts/network_accounts.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "accounts/coroutine.hpp"
#include "accounts/request_queue.hpp"
#include "atproto/syntax.hpp"
#include "base/generational_map.hpp"
#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/seeded_hash.hpp"
#include "documents/did_document.hpp"
#include "documents/errc.hpp"
#include "documents/host_status.hpp"
#include "documents/identity_table.hpp"
#include "documents/key_history.hpp"
#include "transport/endpoint.hpp"
#include "transport/errc.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {
namespace {

namespace asio = boost::asio;
using documents::Account;
using documents::errc;
using documents::HostStatus;
using documents::IdentityRow;
using documents::KeyHistory;
using transport::HttpAnswer;
using transport::HttpRequest;
using transport::RequestOutcome;
using Freshness = AccountSource::Freshness;
using KeyUse = AccountSource::KeyUse;
using Keys = std::vector<atproto::Multikey>;

/// The number of requests for a document while the directory asks us to wait.
constexpr int kMaxAttempts = 5;
/// The number of requests to the failing host of a did:web account, which may never answer.
constexpr int kWebAttempts = 3;
constexpr std::chrono::minutes kWarnEvery{1};
/// By default fewer requests than this can fail in the time for which failures are remembered.
constexpr std::size_t kMaxFailures = 30'000;

/// The number of active requests for key histories, in addition to the requests for documents.
constexpr std::size_t kHistoriesAtOnce = 16;
/// The number of key histories that are kept, and the time for which they are kept. Without the
/// kept histories, commits that match no key would cause one request to the directory each.
constexpr std::size_t kHistories = 1'000;
constexpr std::chrono::seconds kHistoryFresh{10};
/// The number of requests for one history in that time. A newer key may have signed a commit that
/// was made after the last request, so one request is not enough.
constexpr int kRequestsOfHistory = 3;

transport::HttpClientOptions http_options(const NetworkAccountsOptions& options) {
  transport::HttpClientOptions http;
  http.ca_file = options.ca_file;
  http.allow_private_hosts = options.allow_private_hosts;
  http.connect_timeout = options.connect_timeout;
  http.total_timeout = options.total_timeout;
  http.lookup = options.lookup;
  const std::size_t directory = options.directory.active_at_most + kHistoriesAtOnce;
  const std::size_t hosts =
      options.web_at_once + options.statuses.web_at_once + options.statuses.hosts_at_once;
  http.max_at_once = directory + hosts;
  http.idle_of_one_origin = directory;
  http.idle_in_all = http.max_at_once;
  return http;
}

/// Returns how a request to the directory ended, as a sign of the directory's load.
RequestOutcome::End end_of(const Result<Account>& account) {
  if (account || !documents::is_server_failure(account.error())) {
    return RequestOutcome::End::Answered;
  }
  const ErrorCode error = account.error();
  if (error == errc::rate_limited) return RequestOutcome::End::Limited;
  if (error == errc::stopped || error == transport::errc::http_busy ||
      error == transport::errc::spool_failed) {
    return RequestOutcome::End::Ours;
  }
  return RequestOutcome::End::Failed;
}

/// Returns the key of the request queue for the host of a did:web document.
std::string document_host(std::string_view did) {
  return std::string(did.substr(did.rfind(':') + 1));
}

/// Returns the key of the request queue for an account's host. Ports of one name count as one host.
std::string host_of_pds(const std::string& pds) {
  const auto url = transport::parse_http_url(pds);
  return url ? url->host : pds;
}

void log_unknown_status(const std::string& did, const std::string& reason) {
  logger("identity")->info("did={}: its hosting status is unknown: {}", did, reason);
}

/// The accounts that were found recently, and for a short time the failures of other accounts.
class Memory {
 public:
  explicit Memory(const NetworkAccountsOptions& options)
      : options_(options),
        accounts_(options.max_cached),
        failures_(std::min(options.max_cached, kMaxFailures)) {}

  /// Returns the answer to a question that needs no request: an account that is younger than
  /// `max_age`, or a failure. After a failure of a server an older account is the answer, unless
  /// `must_be_new`. `now` dates documents, and `monotonic` dates failures.
  std::optional<Result<Account>> answer(const std::string& did, std::chrono::seconds max_age,
                                        bool must_be_new, Timestamp now, Timestamp monotonic) {
    const Account* account = accounts_.find(did);
    const Failure* failure = failures_.find(did);
    if (failure != nullptr && monotonic < failure->until) {
      const bool stale_serves =
          account != nullptr && !must_be_new && documents::is_server_failure(failure->error);
      if (stale_serves) return Result<Account>(*account);
      return Result<Account>(failure->error);
    }
    if (account == nullptr || !account->is_younger_than(max_age, now)) return std::nullopt;
    return Result<Account>(*account);
  }

  /// Returns null for an unknown account. The pointer is valid until the next call.
  const Account* find(const std::string& did) { return accounts_.find(did); }

  void keep(const Account& account) { accounts_.insert(account.did, account); }
  /// Notes that the account's document was fetched, which ends a failure of the account.
  void fetched(const Account& account) {
    failures_.erase(account.did);
    keep(account);
  }
  void failed(const std::string& did, const ErrorCode& error, Timestamp monotonic) {
    const auto pause = documents::is_server_failure(error) ? options_.remember_server_failure
                                                           : options_.remember_data_failure;
    failures_.insert(did, {error, monotonic + pause});
  }
  /// Removes the account, because its last document is no longer valid. Returns false if the
  /// account is unknown.
  bool forget(const std::string& did) {
    if (accounts_.find(did) == nullptr) return false;
    accounts_.erase(did);
    return true;
  }
  void forget_with_failure(const std::string& did) {
    accounts_.erase(did);
    failures_.erase(did);
  }

 private:
  struct Failure {
    ErrorCode error;
    Timestamp until;
  };

  const NetworkAccountsOptions& options_;
  GenerationalMap<std::string, Account, SeededHash> accounts_;
  GenerationalMap<std::string, Failure, SeededHash> failures_;
};

/// Reads and writes `skua.identities` for coroutines. One statement reads or writes all rows that
/// coroutines wait for.
class Table {
 public:
  Table(asio::io_context& io, const NetworkAccountsOptions& options)
      : io_(io), stored_(options.database_url, options.application_name) {}

  /// Returns the account's row, or nothing if there is none or the database is not available.
  Awaitable<std::optional<IdentityRow>> load(std::string did) {
    const auto row = std::make_shared<Row>(io_.get_executor());
    loads_.emplace_back(std::move(did), row);
    execute_soon();
    co_await row->wait();
    co_return std::move(row->value());
  }

  /// Queues the row to be written soon.
  void save(IdentityRow row) {
    saves_.push_back(std::move(row));
    execute_soon();
  }

 private:
  using Row = Eventual<std::optional<IdentityRow>>;

  void execute_soon() {
    if (!std::exchange(is_due_, true)) asio::post(io_, [this] { execute(); });
  }

  void execute() {
    is_due_ = false;
    const auto loads = std::exchange(loads_, {});
    std::vector<std::string> dids;
    dids.reserve(loads.size());
    for (const auto& [did, row] : loads) dids.push_back(did);
    std::unordered_map<std::string, IdentityRow, SeededHash> found;
    if (!dids.empty()) {
      for (IdentityRow& row : stored_.load(dids)) found.emplace(row.did, std::move(row));
    }
    // Answers in the order of the questions, because requests start in this order.
    for (const auto& [did, row] : loads) {
      const auto place = found.find(did);
      row->set(place == found.end() ? std::nullopt : std::optional(std::move(place->second)));
    }
    stored_.save(std::exchange(saves_, {}));
  }

  asio::io_context& io_;
  documents::StoredIdentities stored_;
  std::vector<std::pair<std::string, std::shared_ptr<Row>>> loads_;
  std::vector<IdentityRow> saves_;
  bool is_due_ = false;
};

/// Recent key histories.
class Histories {
 public:
  /// Returns null if the history is unknown, or too old for a commit or a label of this time.
  std::shared_ptr<const KeyHistory> find(const std::string& did, Timestamp time, Timestamp now) {
    const Known* found = known_.find(did);
    if (found == nullptr || now - found->requested_at >= kHistoryFresh) return nullptr;
    const bool may_request_again =
        found->requests < kRequestsOfHistory || now - found->counts_since >= kHistoryFresh;
    return time >= found->requested_at && may_request_again ? nullptr : found->history;
  }

  void keep(const std::string& did, Timestamp requested_at,
            std::shared_ptr<const KeyHistory> history) {
    Known next{
        .requested_at = requested_at, .history = std::move(history), .counts_since = requested_at};
    const Known* before = known_.find(did);
    if (before != nullptr && requested_at - before->counts_since < kHistoryFresh) {
      next.counts_since = before->counts_since;
      next.requests = before->requests + 1;
    }
    known_.insert(did, std::move(next));
  }

 private:
  struct Known {
    Timestamp requested_at;
    std::shared_ptr<const KeyHistory> history;
    /// The time from which `requests` counts.
    Timestamp counts_since;
    int requests = 1;
  };

  GenerationalMap<std::string, Known, SeededHash> known_{kHistories};
};

}  // namespace

class NetworkAccounts::Impl {
 public:
  Impl(const NetworkAccountsOptions& options, const Clock& clock)
      : options_(options),
        documents_{.plc_url = options_.plc_url,
                   .allow_private_hosts = options_.allow_private_hosts},
        clock_(clock),
        pace_(*options_.pace),
        http_(http_options(options_)),
        work_(io_.get_executor()),
        memory_(options_),
        table_(io_, options_),
        new_of_accounts_(options_.new_of_account),
        directory_limit_(options_.directory),
        web_budget_(options_.web_per_second),
        directory_(io_.get_executor(),
                   {.may_start = [this] { return directory_limit_.start(pace_.now()); }}),
        web_(io_.get_executor(), {.at_once = options_.web_at_once,
                                  .of_one_key = options_.web_at_once_of_one_site,
                                  .may_start = [this] { return web_budget_.take(pace_.now()); }}),
        key_histories_(io_.get_executor(), {.at_once = kHistoriesAtOnce}),
        status_directory_(io_.get_executor(), {.at_once = options_.statuses.directory_at_once,
                                               .patience = options_.statuses.patience}),
        status_web_(io_.get_executor(), {.at_once = options_.statuses.web_at_once,
                                         .of_one_key = options_.statuses.of_one_host,
                                         .patience = options_.statuses.patience}),
        status_hosts_(io_.get_executor(), {.at_once = options_.statuses.hosts_at_once,
                                           .of_one_key = options_.statuses.of_one_host,
                                           .patience = options_.statuses.patience}),
        thread_([this] { run(); }) {}

  ~Impl() { stop(); }

  void identity(const std::string& did, Freshness freshness, IdentityDone done) {
    if (freshness == Freshness::Now) {
      return begin<Account>([this, did] { return find_new(did); }, std::move(done));
    }
    begin<Account>(
        [this, did, freshness] {
          return until_answered<Account>(
              did, [this, did, freshness] { return find_limited(did, freshness); });
        },
        unless_stopped(std::move(done)));
  }

  void identity_once(const std::string& did, Freshness freshness, IdentityDone done) {
    begin<Account>([this, did, freshness] { return find_limited(did, freshness); },
                   std::move(done));
  }

  void status(const std::string& did, StatusDone done) {
    begin<HostStatus>([this, did] { return status_of(did); }, std::move(done));
  }

  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) {
    begin<Keys>(
        [this, did, time, use] {
          return until_answered<Keys>(
              did, [this, did, time, use] { return former_keys(did, time, use); });
        },
        unless_stopped(std::move(done)));
  }

  std::string failure_text(const std::string& did, const ErrorCode& error) const {
    return documents::failure_text(did, error, documents_);
  }

  void table_changed(std::vector<std::string> dids) {
    is_stopped_.with([&](bool is_stopped) {
      if (is_stopped) return;
      asio::post(io_, [this, dids = std::move(dids)] {
        for (const std::string& did : dids) memory_.forget_with_failure(did);
      });
    });
  }

  void stop() {
    is_stopped_.with([](bool& is_stopped) { is_stopped = true; });
    // Ends the requests first, so that each coroutine can end.
    http_.stop();
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      for (RequestQueue* queue : {&directory_, &web_, &key_histories_, &status_directory_,
                                  &status_web_, &status_hosts_}) {
        queue->stop();
      }
      is_ending_ = true;
      for (Timer* timer : pauses_) timer->cancel();
      work_.reset();
    });
    thread_.join();
  }

  const AccountStatistics& statistics() const { return statistics_; }

 private:
  /// The look-up of a document. Further questions for the same account wait for its answer.
  struct LookUp {
    explicit LookUp(const Executor& executor) : answer(executor) {}

    /// Whether a question needs a newer document than the table has.
    bool must_be_new = false;
    /// The known account, which is the answer while the server fails.
    std::optional<Account> stale;
    Eventual<Result<Account>> answer;
  };
  struct Exchange {
    explicit Exchange(const Executor& executor) : ended(executor) {}

    Eventual<Result<HttpAnswer>> ended;
    Timestamp ended_at;
  };

  void run() {
    try {
      io_.run();
    } catch (const std::exception& error) {
      is_stopped_.with([](bool& is_stopped) { is_stopped = true; });
      if (!options_.on_fatal) throw;
      options_.on_fatal(std::string("identities cannot be looked up: ") + error.what());
    }
  }

  /// Runs a question on the thread of the source. An exception ends the thread, see `run`.
  template <class Answer, class Question>
  void begin(Question question, std::function<void(Result<Answer>)> done) {
    const bool is_taken = is_stopped_.with([&](bool is_stopped) {
      if (is_stopped) return false;
      asio::post(io_, [this, question = std::move(question), done] {
        asio::co_spawn(io_, question,
                       [done](const std::exception_ptr& error, Result<Answer> answer) {
                         if (error) std::rethrow_exception(error);
                         done(std::move(answer));
                       });
      });
      return true;
    });
    if (!is_taken) done(errc::stopped);
  }

  /// Suppresses the answer at a stop. The messages that wait for the answer are read again later.
  template <class Answer>
  static std::function<void(Result<Answer>)> unless_stopped(
      std::function<void(Result<Answer>)> done) {
    return [done = std::move(done)](Result<Answer> answer) {
      if (answer || answer.error() != errc::stopped) done(std::move(answer));
    };
  }

  // All functions below run on the thread of the source.

  /// Repeats a question while a server fails. For did:plc, waiting loses nothing, because one
  /// directory serves all these accounts.
  template <class Answer, class Question>
  Awaitable<Result<Answer>> until_answered(std::string did, Question question) {
    const bool is_plc = atproto::is_plc_did(did);
    for (int attempt = 1;; ++attempt) {
      Result<Answer> answer = co_await question();
      const bool is_final = answer || !documents::is_server_failure(answer.error()) ||
                            answer.error() == errc::stopped || (!is_plc && attempt >= kWebAttempts);
      if (is_final) co_return answer;
      if (is_plc) warn(failure_text(did, answer.error()));
      co_await pause(options_.retry_pause);
      if (is_ending_) co_return errc::stopped;
    }
  }

  /// Logs a failure of the directory, at most once a minute.
  void warn(const std::string& reason) {
    const auto now = std::chrono::steady_clock::now();
    if (now < warn_at_) return;
    warn_at_ = now + kWarnEvery;
    logger("identity")
        ->warn("{}; {}", reason,
               with_code("events of accounts without a known key wait", problem("plc-down")));
  }

  /// Waits for a time, or until the stop.
  Awaitable<void> pause(std::chrono::nanoseconds time) {
    if (is_ending_) co_return;
    Timer timer(io_.get_executor());
    timer.expires_after(time);
    pauses_.insert(&timer);
    co_await expired(timer);
    pauses_.erase(&timer);
  }

  /// Returns the account with its current document, as soon as the account has a share of the
  /// requests.
  Awaitable<Result<Account>> find_new(std::string did) {
    const Timestamp now = pace_.now();
    const Timestamp due = new_of_accounts_.reserve(did, now);
    if (due > now) co_await pause(due - now);
    Result<Account> account = co_await find_limited(did, Freshness::Now);
    co_return account;
  }

  /// Calls `find`, unless there are too many questions.
  Awaitable<Result<Account>> find_limited(std::string did, Freshness freshness) {
    if (questions_ >= options_.max_waiting) co_return errc::busy;
    ++questions_;
    Result<Account> account = co_await find(did, freshness);
    --questions_;
    co_return account;
  }

  /// Returns the account of a DID from memory, from the table, or from its document.
  Awaitable<Result<Account>> find(std::string did, Freshness freshness) {
    ++statistics_.asked;
    const bool must_be_new = freshness != Freshness::Known;
    const auto known =
        memory_.answer(did, max_age(freshness), must_be_new, clock_.now(), pace_.now());
    if (known) {
      if (*known) ++statistics_.from_memory;
      co_return *known;
    }
    if (const auto url = documents::document_url(did, documents_); !url) {
      // The failure is not cached, because an invalid DID can have any length.
      ++statistics_.data_failures;
      co_return url.error();
    }
    std::shared_ptr<LookUp>& active = look_ups_[did];
    const bool is_first = active == nullptr;
    if (is_first) active = std::make_shared<LookUp>(io_.get_executor());
    const std::shared_ptr<LookUp> look_up = active;
    look_up->must_be_new = look_up->must_be_new || must_be_new;
    if (is_first) {
      statistics_.waiting = look_ups_.size();
      Result<Account> found = co_await look_up_account(did, look_up);
      look_ups_.erase(did);
      statistics_.waiting = look_ups_.size();
      look_up->answer.set(std::move(found));
    } else {
      co_await look_up->answer.wait();
    }
    const Result<Account>& answer = look_up->answer.value();
    const bool stale_serves = !answer && documents::is_server_failure(answer.error()) &&
                              answer.error() != errc::stopped && look_up->stale && !must_be_new;
    if (stale_serves) co_return *look_up->stale;
    co_return answer;
  }

  Awaitable<Result<Account>> look_up_account(std::string did, std::shared_ptr<LookUp> look_up) {
    const bool is_plc = atproto::is_plc_did(did);
    if (const Account* known = memory_.find(did)) look_up->stale = *known;

    // Asks the table, which may have a document of another process or of the directory's export.
    if (!look_up->must_be_new && (!look_up->stale || is_plc)) {
      const std::optional<IdentityRow> row = co_await table_.load(did);
      std::optional<Account> stored = row ? documents::account_of(*row) : std::nullopt;
      // The row may be older than the document in memory if the database was not available for a
      // write.
      const bool is_older =
          stored && look_up->stale && row->fetched_at < look_up->stale->fetched_at;
      if (stored && !is_older) {
        memory_.keep(*stored);
        if (is_fresh(*row) && !look_up->must_be_new) {
          ++statistics_.from_table;
          co_return *std::move(stored);
        }
        look_up->stale = std::move(stored);
      }
    }

    // Asks the network. One directory serves all did:plc accounts, so the request is repeated while
    // the directory asks us to wait. A host of did:web serves only its own accounts, so its failure
    // is the answer.
    Result<Account> account = errc::stopped;
    for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
      if (is_plc) {
        account = co_await document_of_directory(did, attempt > 1);
      } else {
        account = co_await document_of_host(did);
      }
      if (account || account.error() != errc::rate_limited || !is_plc) break;
      ++statistics_.waits;
    }

    // Stores the document in memory and in the table.
    if (account) {
      ++statistics_.fetched;
      account->fetched_at = clock_.now();
      memory_.fetched(*account);
      table_.save(documents::row_of(*account));
      co_return account;
    }
    const ErrorCode error = account.error();
    if (error == errc::stopped) co_return error;
    const bool is_server = documents::is_server_failure(error);
    ++(is_server ? statistics_.server_failures : statistics_.data_failures);
    // The known account is no longer valid. The table must not return its copy either.
    if (!is_server && memory_.forget(did)) {
      table_.save(
          {.did = did, .signing_key = {}, .pds = {}, .handle = {}, .fetched_at = clock_.now()});
    }
    memory_.failed(did, error, pace_.now());
    co_return error;
  }

  /// If `is_repeated`, the request goes before all requests that wait for the directory.
  Awaitable<Result<Account>> document_of_directory(std::string did, bool is_repeated) {
    Result<RequestQueue::Place> place = co_await directory_.enter(std::string(), is_repeated);
    if (!place) co_return place.error();
    RequestOutcome outcome;
    outcome.started_at = pace_.now();
    HttpRequest request = documents::document_request(did, documents_).value();
    const std::shared_ptr<Exchange> exchange = send(std::move(request));
    co_await exchange->ended.wait();
    const Result<HttpAnswer>& answer = exchange->ended.value();
    Result<Account> account = documents::read_document(did, answer);
    outcome.end = end_of(account);
    outcome.duration = exchange->ended_at - outcome.started_at;
    if (answer) {
      outcome.asked_wait = transport::asked_wait(*answer, clock_.now());
      outcome.rate_limit = transport::stated_rate_limit(*answer, clock_.now());
    }
    directory_limit_.finished(outcome, pace_.now());
    if (outcome.end == RequestOutcome::End::Answered) statistics_.directory_failures = 0;
    if (outcome.end == RequestOutcome::End::Failed) {
      ++statistics_.directory_failures;
      statistics_.directory_failed_at = std::chrono::steady_clock::now();
    }
    co_return account;
  }

  Awaitable<Result<Account>> document_of_host(std::string did) {
    Result<RequestQueue::Place> place = co_await web_.enter(documents::site_of(did));
    if (!place) co_return place.error();
    HttpRequest request = documents::document_request(did, documents_).value();
    const std::shared_ptr<Exchange> exchange = send(std::move(request));
    co_await exchange->ended.wait();
    co_return documents::read_document(did, exchange->ended.value());
  }

  /// Returns the hosting status from the host that the account's document names now.
  Awaitable<Result<HostStatus>> status_of(std::string did) {
    Result<HttpRequest> document_request = documents::document_request(did, documents_);
    if (!document_request) co_return no_status(did, document_request.error());
    const std::size_t waiting =
        status_directory_.waiting() + status_web_.waiting() + status_hosts_.waiting();
    if (waiting >= options_.statuses.waiting) co_return no_status(did, errc::busy);

    // Fetches the document. The directory's own limit covers all kinds of requests together.
    Result<Account> account = errc::stopped;
    if (atproto::is_plc_did(did)) {
      Result<RequestQueue::Place> place = co_await status_directory_.enter(std::string());
      if (!place) co_return no_status(did, place.error());
      account = co_await find(did, Freshness::Now);
    } else {
      Result<RequestQueue::Place> place = co_await status_web_.enter(document_host(did));
      if (!place) co_return no_status(did, place.error());
      const std::shared_ptr<Exchange> exchange = send(*std::move(document_request));
      co_await exchange->ended.wait();
      account = documents::read_document(did, exchange->ended.value());
    }
    // The owner of the DID has deleted it, so no host has the account.
    if (!account && account.error() == errc::did_tombstoned) {
      HostStatus deleted{false, "deleted"};
      co_return deleted;
    }
    if (!account) co_return no_status(did, account.error());
    if (account->pds.empty()) co_return no_status(did, errc::document_without_pds);

    // Asks the host.
    Result<RequestQueue::Place> place = co_await status_hosts_.enter(host_of_pds(account->pds));
    if (!place) co_return no_status(did, place.error());
    HttpRequest request = documents::host_status_request(account->pds, did);
    const std::shared_ptr<Exchange> exchange = send(std::move(request));
    co_await exchange->ended.wait();
    Result<HostStatus> status = documents::read_host_status(exchange->ended.value(), did);
    if (!status && status.error() != errc::stopped) {
      log_unknown_status(did, account->pds + ": " + status.error().message());
    }
    co_return status;
  }

  ErrorCode no_status(const std::string& did, const ErrorCode& error) const {
    if (error == errc::stopped) return error;
    log_unknown_status(
        did, error == errc::busy ? "too many hosts are being asked" : failure_text(did, error));
    return error;
  }

  /// Returns the keys that were in use near a time in the past.
  Awaitable<Result<Keys>> former_keys(std::string did, Timestamp time, KeyUse use) {
    const Timestamp now = clock_.now();
    if (const auto history = histories_.find(did, time, now)) {
      co_return documents::keys_near(*history, time, use);
    }
    Result<HttpRequest> request = documents::key_history_request(options_.plc_url, did);
    if (!request) co_return request.error();
    Result<RequestQueue::Place> place = co_await key_histories_.enter(std::string());
    if (!place) co_return place.error();
    const std::shared_ptr<Exchange> exchange = send(*std::move(request));
    co_await exchange->ended.wait();
    Result<KeyHistory> found = documents::read_key_history(exchange->ended.value(), did);
    if (!found) co_return found.error();
    const auto history = std::make_shared<const KeyHistory>(*std::move(found));
    histories_.keep(did, now, history);
    co_return documents::keys_near(*history, time, use);
  }

  /// Begins a request. The callback for its end runs on the thread of the source.
  std::shared_ptr<Exchange> send(HttpRequest request) {
    auto exchange = std::make_shared<Exchange>(io_.get_executor());
    http_.send(std::move(request), [this, exchange](Result<HttpAnswer> answer) {
      if (!answer && answer.error() == transport::errc::http_stopped) answer = errc::stopped;
      asio::post(io_, [exchange, answer = std::move(answer), ended_at = pace_.now()]() mutable {
        exchange->ended_at = ended_at;
        exchange->ended.set(std::move(answer));
      });
    });
    return exchange;
  }

  std::chrono::seconds max_age(Freshness freshness) const {
    switch (freshness) {
      case Freshness::Known:
        return options_.fresh_for;
      case Freshness::Recent:
        return options_.recent_for;
      case Freshness::Now:
        break;
    }
    return std::chrono::seconds(0);
  }

  bool is_fresh(const IdentityRow& row) const {
    const auto is_young = [this, now = clock_.now()](Timestamp time) {
      return time <= now && now - time < options_.fresh_for;
    };
    return is_young(row.fetched_at) || (row.current_at && is_young(*row.current_at));
  }

  const NetworkAccountsOptions options_;
  const documents::DocumentOptions documents_;
  const Clock& clock_;
  const Clock& pace_;
  AccountStatistics statistics_;
  /// Whether new questions are refused.
  Guarded<bool> is_stopped_{false};
  asio::io_context io_{1};  // uses one thread
  transport::HttpClient http_;
  asio::executor_work_guard<Executor> work_;

  // Only the thread of the source uses these members.
  Memory memory_;
  Table table_;
  Histories histories_;
  std::unordered_map<std::string, std::shared_ptr<LookUp>, SeededHash> look_ups_;
  std::size_t questions_ = 0;
  Shares new_of_accounts_;
  std::set<Timer*> pauses_;
  bool is_ending_ = false;
  /// The time from which the next failure of the directory may be logged.
  std::chrono::steady_clock::time_point warn_at_;
  transport::AdaptiveLimit directory_limit_;
  transport::RequestBudget web_budget_;
  RequestQueue directory_;
  RequestQueue web_;
  RequestQueue key_histories_;
  RequestQueue status_directory_;
  RequestQueue status_web_;
  RequestQueue status_hosts_;

  std::thread thread_;
};

NetworkAccounts::NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock)
    : impl_(std::make_unique<Impl>(options, clock)) {}

NetworkAccounts::~NetworkAccounts() = default;

void NetworkAccounts::identity(const std::string& did, Freshness freshness, IdentityDone done) {
  impl_->identity(did, freshness, std::move(done));
}

void NetworkAccounts::identity_once(const std::string& did, Freshness freshness,
                                    IdentityDone done) {
  impl_->identity_once(did, freshness, std::move(done));
}

void NetworkAccounts::status(const std::string& did, StatusDone done) {
  impl_->status(did, std::move(done));
}

void NetworkAccounts::keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) {
  impl_->keys_near(did, time, use, std::move(done));
}

std::string NetworkAccounts::failure_text(const std::string& did, const ErrorCode& error) const {
  return impl_->failure_text(did, error);
}

void NetworkAccounts::stop() {
  impl_->stop();
}

void NetworkAccounts::table_changed(std::vector<std::string> dids) {
  impl_->table_changed(std::move(dids));
}

const AccountStatistics& NetworkAccounts::statistics() const {
  return impl_->statistics();
}

}  // namespace skua::accounts
