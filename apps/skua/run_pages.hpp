#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "admin/admin_api.hpp"
#include "app/indexer.hpp"
#include "base/guarded.hpp"
#include "http_server/server.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "pages/pages.hpp"
#include "pages/process_status.hpp"
#include "postgres/runtime.hpp"

namespace skua::cli {

/// The settings of a running `skua run` that decide what `skua doctor` must examine, as its page
/// `/settings` states them. They have no passwords.
struct RunningSettings {
  struct Source {
    /// sources::Source::kind and url.
    std::string kind;
    std::string url;
  };

  /// Ends the names of its database sessions (postgres::process_token).
  std::string process = {};
  std::vector<Source> sources = {};
  /// full, signature or none.
  std::string verify = {};
  std::string plc = {};
  /// Absolute; empty: none.
  std::string ca_file = {};
  bool allow_unsafe_database = false;
};

/// The page.
std::string to_json(const RunningSettings& settings);

/// Nothing: the text is not such a page.
std::optional<RunningSettings> parse_running_settings(std::string_view json);

/// The settings, or why there is no answer, for people.
using RunningAnswer = boost::system::result<RunningSettings, std::string>;

/// Asks the pages at an origin such as `http://127.0.0.1:2580`, for two seconds at most.
RunningAnswer ask_running_settings(const std::string& origin, const std::string& ca_file);

/// The runtime of the admin API: an error that ends its thread is logged, and the process
/// continues.
std::unique_ptr<postgres::Runtime> admin_runtime(const std::string& database_url);

/// The admin API of `skua run` and `skua serve`, with the token of the setting. Without the setting
/// it refuses all requests. Throws UsageError for a file that cannot give the token.
admin::AdminApi::Options admin_options(const Invocation& invocation);

/// Warns if clients would send the token over a network without TLS. `address`: of the server.
void warn_of_plain_token(const admin::AdminApi& api, const std::string& address);

/// The pages of `skua run` (libs/operations/pages), its admin API and their HTTP server. They exist
/// before the first connection to the database and until the end of the process, while one Indexer
/// follows another. Owned by the main thread.
class RunPages {
 public:
  /// Observes the process, and listens unless the setting is `off`. If the default address is
  /// taken, it logs a warning and continues without a server. Throws UsageError for a malformed
  /// setting, std::runtime_error if an address that the user chose is not available.
  /// `settings_page`: the JSON of /settings (run_pages.hpp).
  RunPages(const Invocation& invocation, const std::string& database_url,
           std::string settings_page);
  ~RunPages();

  /// From now on the pages show this indexer, which lives until the next call; null: the process
  /// starts, or ends.
  void show(const app::Indexer* indexer);
  /// The process ends: it is not ready any more.
  void show_end(const app::Indexer* indexer);

  /// The codes of the current problems.
  std::vector<std::string_view> problems() const { return pages_.problems(); }

  /// The main loop beats here.
  pages::Heartbeat& main_loop() { return main_loop_; }

 private:
  using Phase = pages::ProcessState::Phase;

  struct Shown {
    const app::Indexer* indexer = nullptr;
    Phase phase = Phase::Starting;
  };

  void listen(const SettingValue& address, bool is_default, std::vector<std::string> hosts);
  pages::ProcessState process_state() const;
  std::vector<status::LabelledMetric> metrics() const;

  const std::string settings_page_;
  pages::Heartbeat main_loop_{"main"};
  /// Locked while the indexer is read.
  Guarded<Shown> shown_;
  /// A fatal error of the pages or of the admin API ends these only.
  postgres::Runtime pages_runtime_;
  const std::unique_ptr<postgres::Runtime> admin_runtime_;
  pages::Pages pages_;
  admin::AdminApi admin_;
  /// Null: there are no pages.
  std::unique_ptr<http_server::Server> server_;
};

}  // namespace skua::cli
