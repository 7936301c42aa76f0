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

/// The settings of a running `skua run` that determine what `skua doctor` must examine, as the page
/// `/settings` states them. They contain no passwords.
struct RunningSettings {
  struct Source {
    /// The kind and the URL are those of sources::Source.
    std::string kind;
    std::string url;
  };

  /// The end of the names of the process's database sessions (postgres::process_token).
  std::string process = {};
  std::vector<Source> sources = {};
  /// The level of verification: full, signature or none.
  std::string verify = {};
  std::string plc = {};
  /// An absolute path; empty if there is no file.
  std::string ca_file = {};
  bool allow_unsafe_database = false;
};

/// Returns the page `/settings`.
std::string to_json(const RunningSettings& settings);

/// Parses the page `/settings`. Returns nothing if the text is not such a page.
std::optional<RunningSettings> parse_running_settings(std::string_view json);

/// Either the settings, or a text for people that says why there is no answer.
using RunningAnswer = boost::system::result<RunningSettings, std::string>;

/// Requests the settings from the pages at an origin such as `http://127.0.0.1:2580`. Takes two
/// seconds at most.
RunningAnswer ask_running_settings(const std::string& origin, const std::string& ca_file);

/// Creates the runtime of the admin API. An error that ends its thread is logged, and the process
/// continues.
std::unique_ptr<postgres::Runtime> admin_runtime(const std::string& database_url);

/// Returns the options of the admin API of `skua run` and `skua serve`, with the token of the
/// setting. Without the setting the API refuses all requests. Throws UsageError for a file that
/// cannot give the token.
admin::AdminApi::Options admin_options(const Invocation& invocation);

/// Warns if clients would send the token over a network without TLS. `address` is that of the
/// server.
void warn_of_plain_token(const admin::AdminApi& api, const std::string& address);

/// Serves pages and the admin API at an address, and prints it. If the address is a default one and
/// is taken, logs a warning and returns null. Throws UsageError for a malformed address, and
/// std::runtime_error if an address that the user chose is not available.
std::unique_ptr<http_server::Server> serve_pages(const SettingValue& address, bool is_default,
                                                 std::vector<std::string> hosts,
                                                 http_server::Server::Routes routes,
                                                 admin::AdminApi& admin);

/// The pages of `skua run` (libs/operations/pages), its admin API and their HTTP server. They exist
/// from before the first connection to the database until the end of the process, during which
/// several Indexers may follow each other. Owned by the main thread.
class RunPages {
 public:
  /// Observes the process, and listens unless the setting is `off`. If the default address is
  /// taken, logs a warning and continues without a server. Throws UsageError for a malformed
  /// setting, and std::runtime_error if an address that the user chose is not available.
  /// `settings_page` is the JSON of /settings (see above).
  RunPages(const Invocation& invocation, const std::string& database_url,
           std::string settings_page);
  ~RunPages();

  /// Lets the pages show this indexer, which must live until the next call. With null, the pages
  /// show that the process starts or ends.
  void show(const app::Indexer* indexer);
  /// Lets the pages show that the process ends, so that it is no longer ready.
  void show_end(const app::Indexer* indexer);

  /// Returns the codes of the current problems.
  std::vector<std::string_view> problems() const { return pages_.problems(); }

  /// Returns the heartbeat of the main loop.
  pages::Heartbeat& main_loop() { return main_loop_; }

 private:
  using Phase = pages::ProcessState::Phase;

  struct Shown {
    const app::Indexer* indexer = nullptr;
    Phase phase = Phase::Starting;
  };

  http_server::Server::Routes routes();
  pages::ProcessState process_state() const;
  std::vector<status::LabelledMetric> metrics() const;

  const std::string settings_page_;
  pages::Heartbeat main_loop_{"main"};
  /// The lock is held while the indexer is read.
  Guarded<Shown> shown_;
  /// A fatal error of the pages or of the admin API ends only these.
  postgres::Runtime pages_runtime_;
  const std::unique_ptr<postgres::Runtime> admin_runtime_;
  pages::Pages pages_;
  admin::AdminApi admin_;
  /// Null if there are no pages.
  std::unique_ptr<http_server::Server> server_;
};

}  // namespace skua::cli
