#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace skua::cli {

/// Invalid input of the user: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value and where it was found, for error messages: `--relay`, `SKUA_RELAY`, `skua.toml: relay`.
struct Found {
  std::string value;
  std::string origin;
};

/// The names of a setting, and its meaning.
struct SettingText {
  const char* flag;         // "--relay"
  const char* environment;  // "SKUA_RELAY"
  const char* key;          // "relay", in the TOML file
  const char* type;         // of its value, as --help shows it; empty: it is boolean
  const char* meaning;
  // The default, as the help shows it; empty: none.
  const char* otherwise = "";
  // Former names that still work; null: none.
  const char* former_environment = nullptr;
  const char* former_key = nullptr;
};

/// A setting, declared once, below. The options of commands (setting_option.hpp), the environment,
/// the file of --config, `skua help settings` and the table of docs/settings.md follow from it.
struct Setting : SettingText {
  explicit Setting(const SettingText& text);
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  /// All of them, in the order of their declarations.
  static const std::vector<const Setting*>& all();
};

inline const Setting kDatabase({"--database", "SKUA_DATABASE_URL", "database_url", "URL",
                                "The PostgreSQL database, postgresql://user@host/name"});
inline const Setting kRelay(
    {"--relay", "SKUA_RELAY", "relay", "URL",
     "Relay or PDS, wss://host. Repeat the flag, or put spaces between URLs, "
     "for standbys in order of preference"});
inline const Setting kFailoverAfter({"--failover-after", "SKUA_FAILOVER_AFTER", "failover_after",
                                     "SECONDS",
                                     "The next relay takes over after this time without a "
                                     "connection, or twice this time without a frame",
                                     "30"});
inline const Setting kFailbackAfter(
    {"--failback-after", "SKUA_FAILBACK_AFTER", "failback_after", "SECONDS",
     "Time that a preferred relay must work before it takes over again", "300"});
inline const Setting kFailoverMargin({"--failover-margin", "SKUA_FAILOVER_MARGIN",
                                      "failover_margin", "SECONDS",
                                      "Maximum propagation skew between relays", "120"});
inline const Setting kTap({"--tap", "SKUA_TAP", "tap", "URL", "A Tap, ws://host:2480"});
inline const Setting kTapPasswordFile({"--tap-password-file", "SKUA_TAP_PASSWORD_FILE",
                                       "tap_password_file", "FILE",
                                       "File whose first line is Tap's admin password"});
inline const Setting kJetstream({"--jetstream", "SKUA_JETSTREAM", "jetstream", "URL",
                                 "A Jetstream, wss://host, also with other sources; version 2 "
                                 "with the path /xrpc/network.bsky.jetstream.subscribeEvents"});
inline const Setting kLabeler(
    {"--labeler", "SKUA_LABELER", "labeler", "URL",
     "A labeler, wss://host, also with other sources; several as with --relay"});
inline const Setting kDiscoverLabelers(
    {"--discover-labelers", "SKUA_DISCOVER_LABELERS", "discover_labelers", "",
     "Also subscribe to the labelers of accounts with a labeler record (bsky.labelers)"});
inline const Setting kMaxDiscoveredLabelers(
    {"--max-discovered-labelers", "SKUA_MAX_DISCOVERED_LABELERS", "max_discovered_labelers",
     "NUMBER", "Maximum number of labelers that --discover-labelers subscribes to", "100"});
inline const Setting kSignalCollection(
    {"--signal-collection", "SKUA_SIGNAL_COLLECTION", "signal_collection", "NSID",
     "Download the repository of each account that writes a record of this collection, and add the "
     "account to a filter by accounts; several as with --relay"});
inline const Setting kZstdDictionary({"--zstd-dictionary", "SKUA_ZSTD_DICTIONARY",
                                      "zstd_dictionary", "FILE",
                                      "Dictionary of a Jetstream's compression", "no compression"});
inline const Setting kCursor({"--cursor", "SKUA_CURSOR", "cursor", "live|oldest|NUMBER",
                              "Start position: live, oldest, or a sequence number; for a Jetstream "
                              "its own cursor",
                              "the saved cursor; without one live, for a labeler oldest"});
inline const Setting kVerify({"--verify", "SKUA_VERIFY", "verify", "full|signature|none",
                              "Checks of a commit before it is indexed: signature and operations, "
                              "the signature only, or none",
                              "full"});
inline const Setting kResync(
    {"--resync", "SKUA_RESYNC", "resync", "complete|all",
     "Repositories that are downloaded again after a gap: complete ones only, or all", "complete"});
inline const Setting kAuditEvery(
    {"--audit-every", "SKUA_AUDIT_EVERY", "audit_every", "DURATION|off",
     "Interval at which listed and stored revisions are compared, such as 90s, 30m, 24h or 7d",
     "24h, off while the filter names accounts"});
inline const Setting kHandles({"--handles", "SKUA_HANDLES", "handles", "checked|claimed",
                               "checked: verify each handle; claimed: accept the most recent claim "
                               "without verification",
                               "checked"});
inline const Setting kDns({"--dns", "SKUA_DNS", "dns", "ADDRESS[:PORT]", "DNS server for handles",
                           "the system's"});
inline const Setting kPlc({"--plc", "SKUA_PLC_URL", "plc_url", "URL", "PLC directory",
                           "https://plc.directory"});
inline const Setting kPlcTail({"--plc-tail", "SKUA_PLC_TAIL", "plc_tail", "",
                               "Follow the PLC directory, so that imported identities stay "
                               "current"});
inline const Setting kCaFile({"--ca-file", "SKUA_CA_FILE", "ca_file", "FILE",
                              "PEM file of certificates to trust in addition to the system's"});
inline const Setting kAllowPrivateHosts({"--allow-private-hosts", "SKUA_ALLOW_PRIVATE_HOSTS",
                                         "allow_private_hosts", "",
                                         "Let DIDs and handles lead to loopback and private "
                                         "addresses"});
inline const Setting kAllowUnsafeDatabase(
    {"--allow-unsafe-database", "SKUA_ALLOW_UNSAFE_DATABASE", "allow_unsafe_database", "",
     "Accept a server with fsync or full_page_writes off, for a database that may be lost"});
inline const Setting kConcurrency({"--concurrency", "SKUA_BACKFILL_CONCURRENCY",
                                   "backfill_concurrency", "NUMBER",
                                   "Maximum number of concurrent downloads", "64"});
inline const Setting kPerHost({"--per-host", "SKUA_BACKFILL_PER_HOST", "backfill_per_host",
                               "NUMBER", "Maximum number of concurrent downloads from one host",
                               "16"});
inline const Setting kLargestRepository({"--largest-repository", "SKUA_BACKFILL_LARGEST_REPOSITORY",
                                         "backfill_largest_repository", "NUMBER",
                                         "Maximum size of a repository that is downloaded, in MiB",
                                         "2048"});
inline const Setting kDecodeThreads({"--decode-threads", "SKUA_DECODE_THREADS", "decode_threads",
                                     "NUMBER", "Threads that decode and verify",
                                     "the cores, half of them without verification"});
inline const Setting kConsumerThreads(
    {"--consumer-threads", "SKUA_CONSUMER_THREADS", "consumer_threads", "NUMBER",
     "Threads that keep projections up to date; 0: leave them to another process", "2"});
inline const Setting kStatsInterval({"--stats-interval", "SKUA_STATS_INTERVAL", "stats_interval",
                                     "SECONDS", "Time between lines of metrics", "5",
                                     "SKUA_FIGURES_EVERY", "figures_every"});
inline const Setting kHttp(
    {"--http", "SKUA_HTTP", "http", "ADDRESS:PORT|off",
     "Address of the pages of skua run, without TLS: the dashboard, /health/ready, /metrics and "
     "/status",
     "127.0.0.1:2580; without pages if the port is taken"});
inline const Setting kBehindAfter({"--behind-after", "SKUA_BEHIND_AFTER", "behind_after",
                                   "DURATION", "Lag from which /health/ready reports source-behind",
                                   "60s"});
inline const Setting kQuietAfter(
    {"--quiet-after", "SKUA_QUIET_AFTER", "quiet_after", "DURATION",
     "Time without an event of a collection after which /health/ready reports collection-quiet, "
     "if six times as long before it was steady",
     "10m"});
inline const Setting kAdminTokenFile(
    {"--admin-token-file", "SKUA_ADMIN_TOKEN_FILE", "admin_token_file", "FILE",
     "File with the token of the admin API of skua run and skua serve, at least 20 characters; "
     "other users must have no rights on it",
     "no admin API"});
inline const Setting kListen(
    {"--listen", "SKUA_LISTEN", "listen", "ADDRESS:PORT",
     "Address of skua serve, without TLS; for clients on other machines use a "
     "reverse proxy",
     "127.0.0.1:2470"});
inline const Setting kHttpHost(
    {"--http-host", "SKUA_HTTP_HOST", "http_host", "NAME",
     "Name by which clients reach skua run or skua serve, as at a reverse proxy; on a loopback "
     "address others than localhost and IP addresses are refused; several as with --relay"});
inline const Setting kMaxClients({"--max-clients", "SKUA_MAX_CLIENTS", "max_clients", "NUMBER",
                                  "Maximum number of connections of skua serve", "256"});
inline const Setting kMaxClientsPerAddress(
    {"--max-clients-per-address", "SKUA_MAX_CLIENTS_PER_ADDRESS", "max_clients_per_address",
     "NUMBER", "Maximum number of connections of one address, except loopback", "32"});
inline const Setting kWebhookTimeout({"--webhook-timeout", "SKUA_WEBHOOK_TIMEOUT",
                                      "webhook_timeout", "DURATION",
                                      "Maximum time until a webhook answers a request", "15s"});
inline const Setting kQueryTimeout({"--timeout", "SKUA_QUERY_TIMEOUT", "query_timeout", "DURATION",
                                    "Maximum time of a query of skua query", "30s"});
inline const Setting kLogLevel({"--log-level", "SKUA_LOG_LEVEL", "log_level",
                                "trace|debug|info|warn|error|off",
                                "Least important messages in the log", "info, error with --quiet"});
inline const Setting kLogFormat(
    {"--log-format", "SKUA_LOG_FORMAT", "log_format", "text|json",
     "Form of the log and of progress lines: text, or one JSON object for each line", "text"});

/// Looks settings up with one precedence: flag > environment > TOML file > default. (In CLI11 the
/// file overrides the environment.)
class Settings {
 public:
  /// Reads the file, if `--config` or SKUA_CONFIG names one. Throws UsageError if it cannot be
  /// read, is not TOML, or contains an unknown key.
  explicit Settings(const std::optional<std::string>& config_flag);

  /// For the command that writes the file: the flags and the environment alone. `file()` is the
  /// name in `--config` or SKUA_CONFIG.
  struct WithoutFile {};
  Settings(const std::optional<std::string>& config_flag, WithoutFile);

  /// Empty: no file is named.
  const std::string& file() const { return file_; }

  /// Nothing if it has no value. `flag` is the value on the command line.
  std::optional<Found> find(const Setting& setting, const std::optional<std::string>& flag) const;

  /// The same, but the default of the setting if it has no value.
  Found find_or_default(const Setting& setting, const std::optional<std::string>& flag) const {
    return find(setting, flag).value_or(Found{setting.otherwise, setting.flag});
  }

  /// The same, but throws UsageError with the flag and setting to use if it has no value.
  Found require(const Setting& setting, const std::optional<std::string>& flag,
                const std::string& example) const;

 private:
  /// Names the file; returns where its name was found.
  std::string name_file(const std::optional<std::string>& config_flag);

  std::string file_;
  std::map<std::string, std::string> values_;
};

/// Parses a boolean (1 and 0 are accepted too); throws UsageError, which names the origin. Nothing:
/// false.
bool yes(const std::optional<Found>& found);

/// Parses a whole number in a range; throws UsageError, which names the origin.
std::int64_t whole_number(const Found& found, std::int64_t least, std::int64_t most);

/// Parses a duration such as 90s, 30m, 24h or 7d in a range; throws UsageError, which names the
/// origin.
std::chrono::seconds duration(const Found& found, std::chrono::seconds least,
                              std::chrono::seconds most);

}  // namespace skua::cli
