#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "base/time.hpp"
#include "documents/export_page.hpp"
#include "postgres/session_thread.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {

/// The wait between two requests if the directory had no further operations.
inline constexpr std::chrono::milliseconds kTailInterval{3'000};
/// The wait between two requests while the directory has further operations.
inline constexpr std::chrono::milliseconds kTailCatchUp{1'000};
/// The longest wait, even if the directory asks for a longer one.
inline constexpr std::chrono::minutes kLongestTailWait{5};

/// Returns the wait after a page. If the directory states a limit of which less than half remains,
/// the wait ends when the limit is renewed, because the other half is for documents. Pure.
std::chrono::milliseconds pause_after_page(const transport::HttpAnswer& answer, bool is_end,
                                           Timestamp now);

/// Returns the wait after `failures` failures in a row (at least one): from two seconds to a
/// minute, or as long as the directory asks. `answer` is null if there was no answer. Pure.
std::chrono::milliseconds pause_after_failure(std::uint64_t failures,
                                              const transport::HttpAnswer* answer, Timestamp now);

/// Metrics of the PLC tail. One thread writes them, and any thread reads them.
struct PlcTailMetrics {
  Counter operations{"plc_operations", "skua_plc_operations_total", "operations",
                     "Operations of the PLC directory's export that were applied to the stored "
                     "identities"};
  CounterFamily<documents::kExportDrops> dropped{
      "plc_dropped", "skua_plc_dropped_total",
      "operations",  "Operations of the PLC directory's export that were not applied, by reason",
      "reason",      documents::export_drop_name};
  Counter failures{"plc_failures", "skua_plc_failures_total", "requests",
                   "Requests for the PLC directory's export that failed"};
  Gauge cursor_age{"plc_cursor_age_seconds", "skua_plc_cursor_age_seconds", "seconds",
                   "Time since the stored identities had all operations of the PLC directory; 0 "
                   "without --plc-tail"};
};

/// Keeps `skua.identities` current. Continues the export of the PLC directory behind
/// `skua.plc_cursor`, and saves the cursor in the transaction that writes the identities. Without a
/// cursor the tail begins at the current time. One of the processes of a database does this; the
/// others wait for the lock. The tail requests one page at a time, and leaves half of the limit
/// that the directory states to other requests. It has a thread, a database session and an HTTP
/// client of its own. While the directory or the database is down, the tail retries.
class PlcTail {
 public:
  /// Receives the DIDs whose identities were written. Called on the tail's thread after the commit.
  /// Must not block or throw.
  using OnChange = std::function<void(std::vector<std::string> dids)>;

  struct Options {
    std::string plc_url;
    std::string ca_file = {};
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
    /// The limit for a request with its answer.
    std::chrono::milliseconds total_timeout = std::chrono::seconds(30);
    std::size_t max_page_bytes = 16 * 1024 * 1024;
  };

  /// Throws std::runtime_error if the CA file cannot be used.
  PlcTail(postgres::Runtime& runtime, Options options, OnChange on_change);
  /// Calls `stop` if necessary.
  ~PlcTail();
  PlcTail(const PlcTail&) = delete;
  PlcTail& operator=(const PlcTail&) = delete;

  void start() { thread_.start(); }
  /// Ends an active request. Idempotent.
  void stop();

  /// Does one round with at most one page, and returns the time until the next round. Throws
  /// postgres::SqlError. Must not be called while the thread runs.
  std::chrono::milliseconds look() { return look(thread_.session().get()); }

  /// Returns the current metrics. Any thread.
  PlcTailMetrics metrics() const;

  /// The number of requests that failed since the last answer, and the time of the last failure.
  /// Any thread.
  struct Failures {
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point latest;
  };
  Failures failures() const { return {failures_, failed_at_}; }

 private:
  std::chrono::milliseconds look(postgres::Session& session);
  /// Waits for the lock that another process holds.
  std::chrono::milliseconds look_as_standby(postgres::Session& session);
  bool take_lock(postgres::Session& session);
  tables::PlcCursor begin(postgres::Session& session);
  std::chrono::milliseconds take(postgres::Session& session, const tables::PlcCursor& cursor,
                                 const transport::HttpAnswer& answer, Timestamp asked_at);
  /// Returns false if another session has changed the cursor.
  static bool write(postgres::Session& session, const tables::PlcCursor& from,
                    const documents::ExportPage& page);
  std::chrono::milliseconds fail(const ErrorCode& error, const transport::HttpAnswer* answer);

  const Options options_;
  const OnChange on_change_;
  /// PostgreSQL's clock.
  const Clock& clock_;
  const transport::Endpoint export_;
  PlcTailMetrics metrics_;
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::chrono::steady_clock::time_point> failed_at_{
      std::chrono::steady_clock::time_point()};
  /// The epoch means that the time is unknown.
  std::atomic<Timestamp> current_at_{Timestamp()};
  // Only the tail's thread uses these members.
  bool has_lock_ = false;
  std::string other_owner_;
  documents::ExportPages pages_;
  transport::HttpClient http_;
  postgres::SessionThread thread_;
};

}  // namespace skua::accounts
