#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace skua::cli {

/// The user asked for something that makes no sense: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value and where it was found, for error messages: `--relay`, `SKUA_RELAY`, `skua.toml: relay`.
struct Found {
  std::string value;
  std::string origin;
};

/// Where one setting may stand.
struct SettingName {
  const char* flag;         // "--relay"
  const char* environment;  // "SKUA_RELAY"
  const char* key;          // "relay", in the TOML file
  // Former names that still work; null: it has none.
  const char* former_environment = nullptr;
  const char* former_key = nullptr;
};

inline constexpr SettingName kDatabase{"--database", "SKUA_DATABASE_URL", "database_url"};
inline constexpr SettingName kRelay{"--relay", "SKUA_RELAY", "relay"};
inline constexpr SettingName kTap{"--tap", "SKUA_TAP", "tap"};
inline constexpr SettingName kTapPasswordFile{"--tap-password-file", "SKUA_TAP_PASSWORD_FILE",
                                              "tap_password_file"};
inline constexpr SettingName kJetstream{"--jetstream", "SKUA_JETSTREAM", "jetstream"};
inline constexpr SettingName kLabeler{"--labeler", "SKUA_LABELER", "labeler"};
inline constexpr SettingName kZstdDictionary{"--zstd-dictionary", "SKUA_ZSTD_DICTIONARY",
                                             "zstd_dictionary"};
inline constexpr SettingName kCaFile{"--ca-file", "SKUA_CA_FILE", "ca_file"};
inline constexpr SettingName kCursor{"--cursor", "SKUA_CURSOR", "cursor"};
inline constexpr SettingName kFailoverAfter{"--failover-after", "SKUA_FAILOVER_AFTER",
                                            "failover_after"};
inline constexpr SettingName kFailbackAfter{"--failback-after", "SKUA_FAILBACK_AFTER",
                                            "failback_after"};
inline constexpr SettingName kFailoverMargin{"--failover-margin", "SKUA_FAILOVER_MARGIN",
                                             "failover_margin"};
inline constexpr SettingName kDecodeThreads{"--decode-threads", "SKUA_DECODE_THREADS",
                                            "decode_threads"};
inline constexpr SettingName kLogLevel{"--log-level", "SKUA_LOG_LEVEL", "log_level"};
inline constexpr SettingName kStatsInterval{"--stats-interval", "SKUA_STATS_INTERVAL",
                                            "stats_interval", "SKUA_FIGURES_EVERY",
                                            "figures_every"};
inline constexpr SettingName kPlc{"--plc", "SKUA_PLC_URL", "plc_url"};
inline constexpr SettingName kDns{"--dns", "SKUA_DNS", "dns"};
inline constexpr SettingName kHandles{"--handles", "SKUA_HANDLES", "handles"};
inline constexpr SettingName kVerify{"--verify", "SKUA_VERIFY", "verify"};
inline constexpr SettingName kResync{"--resync", "SKUA_RESYNC", "resync"};
inline constexpr SettingName kAuditEvery{"--audit-every", "SKUA_AUDIT_EVERY", "audit_every"};
inline constexpr SettingName kAllowPrivateHosts{"--allow-private-hosts", "SKUA_ALLOW_PRIVATE_HOSTS",
                                                "allow_private_hosts"};
inline constexpr SettingName kAllowUnsafeDatabase{
    "--allow-unsafe-database", "SKUA_ALLOW_UNSAFE_DATABASE", "allow_unsafe_database"};
inline constexpr SettingName kConcurrency{"--concurrency", "SKUA_BACKFILL_CONCURRENCY",
                                          "backfill_concurrency"};
inline constexpr SettingName kPerHost{"--per-host", "SKUA_BACKFILL_PER_HOST", "backfill_per_host"};
inline constexpr SettingName kLargestRepository{
    "--largest-repository", "SKUA_BACKFILL_LARGEST_REPOSITORY", "backfill_largest_repository"};

/// Looks settings up with one precedence: flag > environment > TOML file > default. (CLI11's own
/// lets the file beat the environment.)
class Settings {
 public:
  /// Reads the file, if one is named by `--config` or SKUA_CONFIG. Throws UsageError when it cannot
  /// be read, is no TOML, or holds a key that is no setting.
  explicit Settings(const std::optional<std::string>& config_flag);

  /// Nothing when it stands nowhere. `flag` is what the command line gave.
  std::optional<Found> find(const SettingName& name, const std::optional<std::string>& flag) const;

  /// The same, but UsageError, saying where to put it, when it stands nowhere.
  Found require(const SettingName& name, const std::optional<std::string>& flag,
                const std::string& example) const;

 private:
  std::string file_;
  std::map<std::string, std::string> values_;
};

/// Reads true or false (1 and 0 are as good), else UsageError naming the origin. Nothing: false.
bool yes(const std::optional<Found>& found);

/// Reads a whole number in a range, else UsageError naming the origin.
std::int64_t whole_number(const Found& found, std::int64_t least, std::int64_t most);

/// Reads a duration such as 90s, 30m, 24h or 7d in a range, else UsageError naming the origin.
std::chrono::seconds duration(const Found& found, std::chrono::seconds least,
                              std::chrono::seconds most);

}  // namespace skua::cli
