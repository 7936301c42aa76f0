#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/guarded.hpp"
#include "http_server/server.hpp"
#include "pages/database_page.hpp"
#include "pages/health.hpp"
#include "pages/history.hpp"
#include "pages/process_status.hpp"
#include "pages/quiet_collections.hpp"
#include "status/metrics_text.hpp"

namespace skua::pages {

/// The pages of a running process: `/health/live`, `/health/ready`, `/metrics`, `/status`,
/// `/status/process`, `/latest`, `/history`, and the dashboard at `/`, which shows them. One thread
/// observes the process, even without requests, and answers `/health/ready`, `/metrics`,
/// `/status/process` and `/history`; three more threads read the database. While the database is
/// down, the pages show at once what the process knows. Owned by one thread.
class Pages {
 public:
  struct Options {
    /// See add_dashboard.
    std::string command;
    /// The thread of the pages calls these functions. They must not wait for the database.
    std::function<ProcessState()> process;
    std::function<std::vector<status::LabelledMetric>()> metrics;
    HealthLimits limits = {};
    /// Other loops of the process, which must outlive the pages.
    std::vector<const Heartbeat*> loops = {};
  };

  Pages(postgres::Runtime& runtime, Options options);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// Adds the paths to a server, which must stop before the pages end. The process is observed even
  /// without a server.
  void add_routes(http_server::Server::Routes& routes);

  /// Returns the codes of the reasons and warnings of the latest observation, which is at most a
  /// few seconds old. Any thread.
  std::vector<std::string_view> problems() const {
    return problems_.with([](const auto& codes) { return codes; });
  }

  void start();
  /// Idempotent.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  void run(const std::stop_token& stop);
  /// Adds a sample of the process to the histories.
  void sample(const ProcessState& process, TimePoint now);
  /// Observes the process and the database, and logs new problems.
  void observe();
  /// Returns all metrics, including those that the latest observation read from the database.
  std::vector<status::LabelledMetric> metrics() const;
  void answer(const Exchanges& waiting);
  http_server::Response live_response() const;

  postgres::Runtime& runtime_;
  const Options options_;
  DatabaseReader reader_;
  DatabasePage status_;
  DatabasePage latest_;
  Heartbeat heartbeat_{"pages"};
  // The following members are used only by the thread of the pages.
  QuietCollections quiet_{options_.limits.quiet};
  ReasonLog log_;
  std::uint64_t cut_off_ = 0;
  std::optional<TimePoint> cut_off_at_;
  Observed observed_;
  Health health_;
  History history_;
  ProcessStatus process_;
  TimePoint history_from_{};

  Guarded<std::vector<std::string_view>> problems_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  Exchanges waiting_;
  std::jthread thread_;
};

}  // namespace skua::pages
