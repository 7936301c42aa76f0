#include "shared_arguments.hpp"

#include "setting_option.hpp"

namespace skua::cli {
namespace {

constexpr const char* kDidDocsHelp =
    "Verify commits with the keys in this file: a DID document, or a JSON array or object of them; "
    "may be a .zst file";

}  // namespace

void add_database_option(CLI::App* command, std::optional<std::string>& database) {
  add_setting(command, kDatabase, database);
}

void add_unsafe_database_flag(CLI::App* command, bool& allow_unsafe_database) {
  add_setting(command, kAllowUnsafeDatabase, allow_unsafe_database);
}

void add_source_options(CLI::App* command, SourceFlags& flags) {
  add_setting(command, kRelay, flags.relays);
  add_setting(command, kFailoverAfter, flags.failover_after);
  add_setting(command, kFailbackAfter, flags.failback_after);
  add_setting(command, kFailoverMargin, flags.failover_margin);
  add_tap_options(command, flags.tap, flags.tap_password_file);
  add_setting(command, kJetstream, flags.jetstream);
  add_setting(command, kLabeler, flags.labelers);
  add_setting(command, kDiscoverLabelers, flags.discover_labelers);
  add_setting(command, kMaxDiscoveredLabelers, flags.max_discovered_labelers);
  add_setting(command, kSignalCollection, flags.signal_collections);
  command
      ->add_option("--collection", flags.filter.collections,
                   "Store only this collection, or a prefix such as app.bsky.graph.*; replaces the "
                   "stored filter (see skua filter)")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command
      ->add_option("--did", flags.filter.dids,
                   "Store only the records of this account (DID, handle, at:// URI, bsky.app URL); "
                   "replaces the stored filter")
      ->type_name("DID")
      ->allow_extra_args(false);
  command
      ->add_option("--filter-file", flags.filter.file,
                   "File of collections, prefixes and DIDs, one per line; replaces the stored "
                   "filter now and when the file changes")
      ->type_name("FILE");
  add_setting(command, kZstdDictionary, flags.zstd_dictionary);
  add_setting(command, kCursor, flags.cursor);
}

void add_tap_options(CLI::App* command, std::optional<std::string>& tap,
                     std::optional<std::string>& password_file) {
  add_setting(command, kTap, tap);
  add_setting(command, kTapPasswordFile, password_file);
}

void add_tuning_options(CLI::App* command, std::optional<std::string>& decode_threads,
                        std::optional<std::string>& stats_interval) {
  add_setting(command, kDecodeThreads, decode_threads);
  add_setting(command, kStatsInterval, stats_interval);
  // The former name, for one version; options without a group do not appear in the help.
  command->add_option("--figures-every", stats_interval)->group("");
}

void add_did_docs_option(CLI::App* command, std::optional<std::string>& did_docs) {
  command->add_option("--did-docs", did_docs, kDidDocsHelp)->type_name("FILE");
}

void add_did_docs_option(CLI::App* command, std::optional<std::filesystem::path>& did_docs) {
  command->add_option("--did-docs", did_docs, kDidDocsHelp)->type_name("FILE");
}

void add_plc_option(CLI::App* command, std::optional<std::string>& plc) {
  add_setting(command, kPlc, plc);
}

void add_ca_file_option(CLI::App* command, std::optional<std::string>& ca_file) {
  add_setting(command, kCaFile, ca_file);
}

void add_private_hosts_flag(CLI::App* command, bool& allow_private_hosts) {
  add_setting(command, kAllowPrivateHosts, allow_private_hosts);
}

void add_dns_option(CLI::App* command, std::optional<std::string>& dns) {
  add_setting(command, kDns, dns);
}

void add_account_options(CLI::App* command, VerificationFlags& flags) {
  add_plc_option(command, flags.plc);
  add_ca_file_option(command, flags.ca_file);
  add_private_hosts_flag(command, flags.allow_private_hosts);
}

void add_handle_options(CLI::App* command, VerificationFlags& flags) {
  add_dns_option(command, flags.dns);
  add_ca_file_option(command, flags.ca_file);
  add_private_hosts_flag(command, flags.allow_private_hosts);
}

void add_verify_option(CLI::App* command, VerificationFlags& flags) {
  add_setting(command, kVerify, flags.verify);
}

void add_handles_option(CLI::App* command, VerificationFlags& flags, const char* otherwise) {
  add_setting(command, kHandles, flags.handles, {.otherwise = otherwise});
}

void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags) {
  add_did_docs_option(command, did_docs);
  add_setting(
      command, kVerify, flags.verify,
      {.type = "full|none", .meaning = "Check of the signature of a repository: full, or none"});
  add_handles_option(command, flags, "checked");
  add_dns_option(command, flags.dns);
  add_account_options(command, flags);
}

void add_json_flag(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "Print JSON");
}

void add_backfill_limits(CLI::App* command, BackfillRequestFlags& flags) {
  add_setting(command, kConcurrency, flags.concurrency);
  add_setting(command, kPerHost, flags.per_host);
  add_setting(command, kLargestRepository, flags.largest_repository);
}

void add_backfill_of_run(CLI::App* command, BackfillRequestFlags& flags) {
  flags.prefix = "--backfill-";
  command->add_option("--backfill", flags.who, "Also download the repository of this account")
      ->type_name("DID|HANDLE")
      ->allow_extra_args(false);
  command
      ->add_option("--backfill-file", flags.files,
                   "Also download the repositories of these files, one account per line")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--backfill-host", flags.hosts, "Also download all repositories of this host")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      ->add_option("--backfill-collection", flags.collections,
                   "Also download the repositories of all accounts with records of this collection")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command->add_flag("--backfill-network", flags.network,
                    "Also download all repositories of all hosts of the relay");
  add_backfill_limits(command, flags);
}

}  // namespace skua::cli
