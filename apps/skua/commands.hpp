#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backfill_request.hpp"
#include "run_pages.hpp"
#include "settings.hpp"
#include "source_choice.hpp"
#include "verification.hpp"

namespace skua::cli {

/// Exit codes of every command. UsageError and CLI11's own errors have the third.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

/// The values of flags; nothing for a flag that was not given.
struct RunFlags {
  SourceFlags source;
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
  std::optional<std::string> decode_threads;
  std::optional<std::string> stats_interval;
  std::optional<std::string> consumer_threads;
  std::optional<std::string> audit_every;
  BackfillRequestFlags backfill;
  VerificationFlags verification;
  bool plc_tail = false;
  PagesFlags pages;
};
int run(const Settings& settings, const RunFlags& flags);

struct ReplayFlags {
  std::string file;
  std::optional<std::string> did_docs;
  VerificationFlags verification;
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
  std::optional<std::string> decode_threads;
  std::optional<std::string> stats_interval;
};
int replay(const Settings& settings, const ReplayFlags& flags);

struct BackfillFlags {
  BackfillRequestFlags backfill;
  std::optional<std::string> relay;
  bool bootstrap = false;
  std::optional<std::string> did_docs;
  VerificationFlags verification;
  std::optional<std::string> database;
  bool allow_unsafe_database = false;
  std::optional<std::string> decode_threads;
  std::optional<std::string> stats_interval;
};
int backfill(const Settings& settings, const BackfillFlags& flags);

/// Selects the jobs for `skua backfill retry` and `cancel`.
struct BackfillJobsFlags {
  std::vector<std::string> who;
  std::vector<std::string> files;
  std::optional<std::string> host;
  std::vector<std::string> states;
  bool all = false;
  VerificationFlags verification;
  std::optional<std::string> database;
};
int backfill_retry(const Settings& settings, const BackfillJobsFlags& flags);
int backfill_cancel(const Settings& settings, const BackfillJobsFlags& flags);

struct RecordFlags {
  std::string url;
  std::string file;
  bool append = false;
  std::optional<std::string> cursor;
  std::optional<std::string> ca_file;
  std::uint64_t frames = 0;  // 0: until stopped
};
int record(const Settings& settings, const RecordFlags& flags);

/// `skua tap ...`.
struct TapFlags {
  std::optional<std::string> tap;
  std::optional<std::string> tap_password_file;
  std::vector<std::string> who;
  std::vector<std::string> files;
  VerificationFlags verification;
  bool json = false;
};
enum class TapChange : std::uint8_t { Add, Remove };
int tap_change(const Settings& settings, const TapFlags& flags, TapChange change);
int tap_info(const Settings& settings, const TapFlags& flags);
int tap_stats(const Settings& settings, const TapFlags& flags);

struct ServeFlags {
  std::optional<std::string> listen;
  std::vector<std::string> http_hosts;
  std::optional<std::string> max_clients;
  std::optional<std::string> max_clients_per_address;
  std::optional<std::string> webhook_timeout;
  std::optional<std::string> admin_token_file;
  std::optional<std::string> ca_file;
  std::optional<std::string> database;
};
int serve(const Settings& settings, const ServeFlags& flags);

struct MigrateFlags {
  std::optional<std::string> database;
  bool verbose = false;
};
int migrate(const Settings& settings, const MigrateFlags& flags);

struct StatusFlags {
  std::optional<std::string> database;
  bool json = false;
};
int status(const Settings& settings, const StatusFlags& flags);
int backfill_status(const Settings& settings, const StatusFlags& flags);

struct IdentityFlags {
  std::string who;
  std::optional<std::string> plc;
  std::optional<std::string> database;
  std::optional<std::string> ca_file;
  std::optional<std::string> dns;
  bool allow_private_hosts = false;
  bool refresh = false;
  bool json = false;
};
int identity(const Settings& settings, const IdentityFlags& flags);

struct IdentityImportFlags {
  std::string source;  // a file, a URL, or - for standard input
  std::optional<std::string> database;
  std::optional<std::string> ca_file;
  std::optional<std::string> after;
};
int identity_import(const Settings& settings, const IdentityImportFlags& flags);

}  // namespace skua::cli
