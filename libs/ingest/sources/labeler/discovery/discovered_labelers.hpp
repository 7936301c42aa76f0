#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/metrics.hpp"
#include "postgres/locks.hpp"
#include "postgres/session_thread.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"
#include "sources/labeler/discovery/labeler_documents.hpp"
#include "sources/labeler/discovery/labeler_subscription.hpp"
#include "writer/worker_pool.hpp"

namespace skua::sources {

/// Metrics of the discovery of labelers. Any thread may use them.
struct LabelerMetrics {
  Gauge found{"discovered_labelers", "skua_discovered_labelers", "accounts",
              "Active accounts with a labeler record that were considered"};
  Gauge subscribed{"subscribed_labelers", "skua_subscribed_labelers", "labelers",
                   "Discovered labelers with a subscription"};
  Gauge connected{"connected_labelers", "skua_connected_labelers", "labelers",
                  "Discovered labelers with a connection at this moment"};
  GaugeFamily<kLeftOutReasons> left_out{
      "left_out_labelers",
      "skua_left_out_labelers",
      "accounts",
      "Accounts with a labeler record that have no subscription, by reason",
      "reason",
      [](std::size_t index) { return name_of(static_cast<LeftOut>(index)); }};
  Counter failures{"labeler_failures", "skua_labeler_connection_failures_total", "connections",
                   "Connections to discovered labelers that failed or ended"};
};

/// Subscribes to the labelers that the database knows (`bsky.labelers`). A subscription ends when
/// the record is deleted, the account is inactive, or its DID document names no labeler any more.
/// Any account can publish such a record, so LabelerLimits, LabelLimits and SubscriptionServices
/// set limits. One connection, on a thread of its own, saves the cursors of all labelers. One
/// thread owns and calls the object. Any thread may call its const functions.
///
/// If another process discovers labelers for the same database, or reads one of them, this process
/// does not read these labelers, and tries again later.
class DiscoveredLabelers {
 public:
  struct Options {
    LabelerLimits limits;
    /// The names of the sources that the settings contain.
    std::set<std::string> named = {};
    std::string ca_file;
    /// Whether addresses without TLS are permitted, too.
    bool allow_private_hosts = false;
    /// The maximum number of labels that one labeler may send in a second.
    double labels_per_second = 500;
    /// The policy for a labeler that fails: the pause before the next attempt doubles up to hours.
    transport::ReconnectPolicy::Options reconnect{.first = std::chrono::seconds(5),
                                                  .longest = std::chrono::hours(4),
                                                  .healthy_after = std::chrono::minutes(5)};
    LabelerDocuments::Options documents = {};
    /// The interval at which the table is read and the cursors are saved.
    std::chrono::milliseconds interval{2'000};
    /// Adds metrics that other parts of the process count. Any thread may call it.
    std::function<void(pipeline::Metrics&)> complete = {};
  };

  /// The name under which all discovered labelers together have their lock and their metrics.
  static constexpr const char* kName = "labeler:discovered";

  /// `accounts` supplies the documents and the keys. `runtime` and `accounts` outlive the object,
  /// and so does `pool` until its end.
  DiscoveredLabelers(postgres::Runtime& runtime, Options options, accounts::AccountSource& accounts,
                     writer::WorkerPool& pool);
  ~DiscoveredLabelers();
  DiscoveredLabelers(const DiscoveredLabelers&) = delete;
  DiscoveredLabelers& operator=(const DiscoveredLabelers&) = delete;

  /// Starts the thread. Call it after the start of `pool`.
  void start() { thread_.start(); }

  // The steps of a stop, in this order. SourceRun describes them.
  void close();
  bool drain(std::chrono::steady_clock::time_point deadline);
  void end() { verification_.stop(); }
  bool save();
  void drop();

  /// Returns the sums over all discovered labelers.
  pipeline::Metrics metrics() const;
  const LabelerMetrics& counters() const { return metrics_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Reading {
    std::unique_ptr<LabelerSubscription> subscription;
    /// The lock of the source. It is null if the session that held it has ended.
    std::unique_ptr<postgres::SourceLock> lock;
    std::optional<std::int64_t> saved;
    /// The part of the subscription's failures that the totals already contain.
    std::uint64_t failures = 0;
  };
  /// The key is the name of the source.
  using Readings = std::map<std::string, Reading>;
  struct Answer {
    std::string did;
    Result<documents::Account> account;
  };
  using Answers = Guarded<std::vector<Answer>>;

  std::chrono::milliseconds look(postgres::LazySession& session);
  /// Takes the missing locks. Returns false if another process discovers labelers.
  bool take_locks(postgres::Session& session);
  void ask_for_documents(const std::vector<std::string>& dids, TimePoint now);
  void change_subscriptions(postgres::Session& session, const std::vector<std::string>& dids);
  /// Begins a subscription. Does nothing if another process reads the labeler.
  void begin(postgres::Session& session, const std::string& name, ChosenLabeler labeler);
  /// Closes subscriptions that must end, and destroys them once the workers no longer use them.
  void finish_ended(postgres::Session& session);
  void save_cursors(postgres::Session& session);
  void count(const LabelerChoice& choice, std::size_t found);
  void log_changes();
  void forget_locks();

  const Options options_;
  accounts::AccountSource& accounts_;
  writer::WorkerPool& pool_;
  const Clock& clock_;
  const Timestamp started_at_;
  pipeline::CommitVerification verification_;
  pipeline::IntakeCounters intake_;
  LabelerMetrics metrics_;
  SubscriptionServices services_;
  LabelerDocuments documents_;
  /// The answers of look-ups, which may come after the destructor. Therefore look-ups share the
  /// ownership.
  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  // The thread uses these maps. It changes them under the lock, because `metrics` reads them.
  mutable std::mutex mutex_;
  Readings readings_;
  /// Subscriptions that take no more messages, and wait for their events to be durable.
  Readings ended_;
  std::unique_ptr<postgres::SourceLock> lock_;
  bool is_busy_ = false;
  /// The last log line, and the time from which the next one is permitted.
  std::string said_;
  TimePoint say_at_{};
  postgres::SessionThread thread_;
};

}  // namespace skua::sources
