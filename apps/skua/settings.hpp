#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addresses.hpp"
#include "atproto/account_group.hpp"
#include "documents/handle_check.hpp"
#include "http_server/client_address.hpp"
#include "option.hpp"
#include "sources/source.hpp"
#include "tables/repository_table.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

// This file declares the settings, and the options that several commands have. A new setting is
// declared here and named in the row of each command that has it (commands.hpp); the command reads
// it as `invocation[kSetting]`. The environment, the file of --config, `skua help settings` and the
// table of docs/settings.md follow from the declaration.

class Invocation;

using OptionalText = std::optional<std::string>;
using Texts = std::vector<std::string>;

enum class Handles : std::uint8_t { Checked, Claimed };

// The following functions read the forms of single settings. All throw UsageError, which names the
// origin; for a database the message contains no password.

std::string read_database(const SettingValue& given);
std::string read_plc(const SettingValue& given);
/// Checks that the value is a readable file of certificates.
std::string read_ca_file(const SettingValue& given);
documents::DnsServer read_dns(const SettingValue& given);
/// Reads `live`, `oldest` or a sequence number.
sources::CursorChoice read_cursor(const SettingValue& given);
/// Reads the interval of audits. Zero switches audits off.
std::chrono::seconds read_audit_interval(const SettingValue& given);
std::string read_signal_collection(const SettingValue& given);
/// Reads groups of accounts, such as 0-31,40.
atproto::GroupSet read_groups(const SettingValue& given);

/// Returns the number of threads that decode. Without the setting it is half the number of cores,
/// because PostgreSQL needs the other half. With verification it is the number of cores, because
/// signatures cost more than rows.
std::size_t decode_threads(const Invocation& invocation, bool is_verified);

inline const Setting<OptionalText> kDatabase(
    {.name = "--database",
     .type = "URL",
     .meaning = "The PostgreSQL database, postgresql://user@host/name",
     .key = "database_url"},
    read_database);
inline const Setting<std::optional<atproto::GroupSet>> kGroups(
    {.name = "--groups",
     .type = "GROUPS",
     .meaning = "The groups of accounts (0 to 63) that a new database stores, such as 0-31,40; by "
                "default all. The database keeps them"},
    read_groups);
inline const Setting<std::vector<SettingValue>> kRelay(
    {.name = "--relay",
     .type = "URL",
     .meaning = "Relay or PDS, wss://host. Repeat the flag, or put spaces between URLs, for "
                "standbys in order of preference"});
inline const Setting<std::chrono::seconds> kFailoverAfter(
    {.name = "--failover-after",
     .type = "SECONDS",
     .meaning = "The next relay takes over after this time without a connection, or twice this "
                "time without a frame",
     .default_value = "30"},
    seconds_in(1, 86'400));
inline const Setting<std::chrono::seconds> kFailbackAfter(
    {.name = "--failback-after",
     .type = "SECONDS",
     .meaning = "Time that a preferred relay must work before it takes over again",
     .default_value = "300"},
    seconds_in(1, 86'400));
inline const Setting<std::chrono::seconds> kFailoverMargin(
    {.name = "--failover-margin",
     .type = "SECONDS",
     .meaning = "Maximum propagation skew between relays",
     .default_value = "120"},
    seconds_in(1, 86'400));
inline const Setting<std::optional<SettingValue>> kTap({.name = "--tap",
                                                        .type = "URL",
                                                        .meaning = "A Tap, ws://host:2480"});
inline const Setting<std::optional<SettingValue>> kTapPasswordFile(
    {.name = "--tap-password-file",
     .type = "FILE",
     .meaning = "File whose first line is Tap's admin password"});
inline const Setting<std::optional<SettingValue>> kJetstream(
    {.name = "--jetstream",
     .type = "URL",
     .meaning = "A Jetstream, wss://host, also with other sources; version 2 with the path "
                "/xrpc/network.bsky.jetstream.subscribeEvents"});
inline const Setting<std::vector<SettingValue>> kLabeler(
    {.name = "--labeler",
     .type = "URL",
     .meaning = "A labeler, wss://host, also with other sources; several as with --relay"});
inline const Setting<bool> kDiscoverLabelers(
    {.name = "--discover-labelers",
     .meaning = "Also subscribe to the labelers of accounts with a labeler record "
                "(bsky.labelers)"});
// The maximum is 1,000, because more labelers would need too many threads.
inline const Setting<std::size_t> kMaxDiscoveredLabelers(
    {.name = "--max-discovered-labelers",
     .type = "NUMBER",
     .meaning = "Maximum number of labelers that --discover-labelers subscribes to",
     .default_value = "100"},
    number_in(1, 1'000));
inline const Setting<Texts> kSignalCollection(
    {.name = "--signal-collection",
     .type = "NSID",
     .meaning = "Download the repository of each account that writes a record of this collection, "
                "and add the account to a filter by accounts; several as with --relay"},
    read_signal_collection);
inline const Setting<std::optional<SettingValue>> kZstdDictionary(
    {.name = "--zstd-dictionary",
     .type = "FILE",
     .meaning = "Dictionary of a Jetstream's compression",
     .default_text = "no compression"});
inline const Setting<std::optional<sources::CursorChoice>> kCursor(
    {.name = "--cursor",
     .type = "live|oldest|NUMBER",
     .meaning = "Start position: live, oldest, or a sequence number; for a Jetstream its own "
                "cursor",
     .default_text = "the saved cursor; without one live, for a labeler oldest"},
    read_cursor);
inline const Setting<std::optional<verify::Level>> kVerify(
    {.name = "--verify",
     .type = "full|signature|none",
     .meaning = "Checks of a commit before it is indexed: signature and operations, the signature "
                "only, or none",
     .default_value = "full"},
    one_of<std::optional<verify::Level>>({{"full", verify::Level::Full},
                                          {"signature", verify::Level::Signature},
                                          {"none", std::nullopt}}));
inline const Setting<tables::Resync> kResync(
    {.name = "--resync",
     .type = "complete|all",
     .meaning = "Repositories that are downloaded again after a gap: complete ones only, or all",
     .default_value = "complete"},
    one_of<tables::Resync>({{"complete", tables::Resync::Complete}, {"all", tables::Resync::All}}));
inline const Setting<std::optional<std::chrono::seconds>> kAuditEvery(
    {.name = "--audit-every",
     .type = "DURATION|off",
     .meaning = "Interval at which listed and stored revisions are compared, such as 90s, 30m, 24h "
                "or 7d",
     .default_text = "24h, off while the filter names accounts"},
    read_audit_interval);
inline const Setting<Handles> kHandles(
    {.name = "--handles",
     .type = "checked|claimed",
     .meaning = "checked: verify each handle; claimed: accept the most recent claim without "
                "verification",
     .default_value = "checked"},
    one_of<Handles>({{"checked", Handles::Checked}, {"claimed", Handles::Claimed}}));
inline const Setting<documents::DnsServer> kDns({.name = "--dns",
                                                 .type = "ADDRESS[:PORT]",
                                                 .meaning = "DNS server for handles",
                                                 .default_text = "the system's"},
                                                read_dns);
inline const Setting<std::string> kPlc({.name = "--plc",
                                        .type = "URL",
                                        .meaning = "PLC directory",
                                        .default_value = "https://plc.directory",
                                        .key = "plc_url"},
                                       read_plc);
inline const Setting<bool> kPlcTail(
    {.name = "--plc-tail",
     .meaning = "Follow the PLC directory, so that imported identities stay current"});
inline const Setting<std::string> kCaFile(
    {.name = "--ca-file",
     .type = "FILE",
     .meaning = "PEM file of certificates to trust in addition to the system's"},
    read_ca_file);
inline const Setting<bool> kAllowPrivateHosts(
    {.name = "--allow-private-hosts",
     .meaning = "Let DIDs and handles lead to loopback and private addresses"});
inline const Setting<bool> kAllowUnsafeDatabase(
    {.name = "--allow-unsafe-database",
     .meaning = "Accept a server with fsync or full_page_writes off, for a database that may be "
                "lost"});
inline const Setting<std::size_t> kConcurrency({.name = "--concurrency",
                                                .type = "NUMBER",
                                                .meaning = "Maximum number of concurrent downloads",
                                                .default_value = "64",
                                                .key = "backfill_concurrency"},
                                               number_in(1, 1'000));
inline const Setting<std::size_t> kPerHost(
    {.name = "--per-host",
     .type = "NUMBER",
     .meaning = "Maximum number of concurrent downloads from one host",
     .default_value = "16",
     .key = "backfill_per_host"},
    number_in(1, 100));
inline const Setting<std::size_t> kLargestRepository(
    {.name = "--largest-repository",
     .type = "NUMBER",
     .meaning = "Maximum size of a repository that is downloaded, in MiB",
     .default_value = "2048",
     .key = "backfill_largest_repository"},
    number_in(1, 1'000'000));
inline const Setting<std::optional<std::size_t>> kDecodeThreads(
    {.name = "--decode-threads",
     .type = "NUMBER",
     .meaning = "Threads that decode and verify",
     .default_text = "the cores, half of them without verification"},
    number_in(1, 64));
inline const Setting<std::size_t> kConsumerThreads(
    {.name = "--consumer-threads",
     .type = "NUMBER",
     .meaning = "Threads that keep projections up to date; 0: leave them to another process",
     .default_value = "2"},
    number_in(0, 64));
inline const Setting<std::chrono::seconds> kStatsInterval(
    {.name = "--stats-interval",
     .type = "SECONDS",
     .meaning = "Time between lines of metrics",
     .default_value = "5",
     .former_key = "figures_every"},
    seconds_in(1, 86'400));
inline const Setting<std::optional<SettingValue>> kHttp(
    {.name = "--http",
     .type = "ADDRESS:PORT|off",
     .meaning = "Address of the pages of skua run, without TLS: the dashboard, /health/ready, "
                "/metrics and /status",
     .default_text = "127.0.0.1:2580; without pages if the port is taken"});
inline const Setting<std::chrono::seconds> kBehindAfter(
    {.name = "--behind-after",
     .type = "DURATION",
     .meaning = "Lag from which /health/ready reports source-behind",
     .default_value = "60s"},
    duration_in(std::chrono::seconds(1), std::chrono::hours(24 * 7)));
inline const Setting<std::chrono::seconds> kQuietAfter(
    {.name = "--quiet-after",
     .type = "DURATION",
     .meaning = "Time without an event of a collection after which /health/ready reports "
                "collection-quiet, if six times as long before it was steady",
     .default_value = "10m"},
    duration_in(std::chrono::seconds(3), std::chrono::hours(24)));
inline const Setting<std::optional<SettingValue>> kAdminTokenFile(
    {.name = "--admin-token-file",
     .type = "FILE",
     .meaning = "File with the token of the admin API of skua run and skua serve, at least 20 "
                "characters; other users must have no rights on it",
     .default_text = "no admin API"});
inline const Setting<ListenAddress> kListen(
    {.name = "--listen",
     .type = "ADDRESS:PORT",
     .meaning = "Address of skua serve, without TLS; for clients on other machines use a reverse "
                "proxy",
     .default_value = "127.0.0.1:2470"},
    listen_address);
inline const Setting<Texts> kHttpHost(
    {.name = "--http-host",
     .type = "NAME",
     .meaning = "Name by which clients reach skua run or skua serve, as at a reverse proxy; on a "
                "loopback address others than localhost and IP addresses are refused; several as "
                "with --relay"},
    http_host);
inline const Setting<std::vector<http_server::AddressRange>> kTrustedProxy(
    {.name = "--trusted-proxy",
     .type = "ADDRESS|PREFIX",
     .meaning = "Reverse proxy of skua serve that names its client in X-Forwarded-For: the last "
                "address there that is no such proxy is the client; several as with --relay"},
    trusted_proxy);
inline const Setting<std::size_t> kMaxClients(
    {.name = "--max-clients",
     .type = "NUMBER",
     .meaning = "Maximum number of connections of skua serve",
     .default_value = "256"},
    number_in(1, 100'000));
inline const Setting<std::size_t> kMaxClientsPerAddress(
    {.name = "--max-clients-per-address",
     .type = "NUMBER",
     .meaning = "Maximum number of connections of one address, except loopback",
     .default_value = "32"},
    number_in(1, 100'000));
inline const Setting<std::size_t> kReadSessions(
    {.name = "--read-sessions",
     .type = "NUMBER",
     .meaning = "Database sessions of skua serve for records, and as many for queries; one client "
                "uses all but one",
     .default_value = "3"},
    number_in(2, 100));
inline const Setting<bool> kServeConsumers(
    {.name = "--consumers",
     .meaning = "skua serve also keeps projections up to date, as skua consumers run does",
     .key = "serve_consumers"});
inline const Setting<std::chrono::seconds> kWebhookTimeout(
    {.name = "--webhook-timeout",
     .type = "DURATION",
     .meaning = "Maximum time until a webhook answers a request",
     .default_value = "15s"},
    duration_in(std::chrono::seconds(1), std::chrono::minutes(10)));
inline const Setting<std::chrono::seconds> kQueryTimeout(
    {.name = "--timeout",
     .type = "DURATION",
     .meaning = "Maximum time of a query of skua query",
     .default_value = "30s",
     .key = "query_timeout"},
    duration_in(std::chrono::seconds(1), std::chrono::hours(24)));
inline const Setting<std::optional<SettingValue>> kLogLevel(
    {.name = "--log-level",
     .type = "trace|debug|info|warn|error|off",
     .meaning = "Least important messages in the log",
     .default_text = "info, error with --quiet"});
inline const Setting<SettingValue> kLogFormat(
    {.name = "--log-format",
     .type = "text|json",
     .meaning = "Form of the log and of progress lines: text, or one JSON object for each line",
     .default_value = "text"});

// The following options of several commands are no settings.

inline const Option<OptionalText> kConfig({.name = "--config",
                                           .type = "FILE",
                                           .meaning = "TOML file with settings",
                                           .environment = "SKUA_CONFIG"});
inline const Option<bool> kQuiet({.name = "-q,--quiet",
                                  .meaning = "Print errors and the result only"});
inline const Option<std::size_t> kProjectionThreads(
    {.name = "--threads",
     .type = "NUMBER",
     .meaning = "Threads that apply changes to projections",
     .default_value = "2"},
    number_in(1, 64));
inline const Option<bool> kJson({.name = "--json", .meaning = "Print JSON"});
inline const Option<OptionalText> kDidDocs(
    {.name = "--did-docs",
     .type = "FILE",
     .meaning = "Verify commits with the keys in this file: a DID document, or a JSON array or "
                "object of them; may be a .zst file"});
inline const Option<Texts> kWho(
    {.name = "WHO",
     .meaning = "DID, handle, at:// URI or https://bsky.app URL of an account or record"});
inline const Option<Texts> kFiles({.name = "--file",
                                   .type = "FILE",
                                   .meaning = "Files of accounts, one per line"});
inline const Option<std::string> kFile({.name = "FILE"});
inline const Option<Texts> kCollections({.name = "--collection", .type = "NSID"});
inline const Option<Texts> kDids({.name = "--did", .type = "DID"});

/// Returns the projections with their meanings.
std::vector<std::pair<std::string, std::string>> projection_names();

inline const Option<std::string> kConsumerName(
    {.name = "NAME",
     .meaning = "The name of a consumer, see `skua consumers list`",
     .known_values = projection_names});

/// Returns a text for people with all settings: their names, defaults and meanings.
std::string settings_text();

/// Returns the settings as a Markdown table for docs/settings.md.
std::string settings_markdown();

/// Returns a setting in the form of the file of --config, below its meaning and its default as
/// comments. Without a value the setting is commented out, with an example.
std::string setting_toml(const OptionText& setting, const std::optional<std::string>& value);

/// Returns an example of the file of --config, with every setting commented out.
std::string settings_toml();

}  // namespace skua::cli
