#include "shared_arguments.hpp"

#include <fmt/format.h>

namespace skua::cli {
namespace {

constexpr const char* kDidDocsHelp =
    "Verify commits with the keys of this file: a DID document, a JSON array of them, or an "
    "object of them by DID; also .zst";

}  // namespace

void add_database_option(CLI::App* command, std::optional<std::string>& database) {
  command
      ->add_option("--database", database,
                   "The PostgreSQL database, postgresql://user@host/name (SKUA_DATABASE_URL)")
      ->type_name("URL");
}

void add_unsafe_database_flag(CLI::App* command, bool& allow_unsafe_database) {
  command->add_flag(
      "--allow-unsafe-database", allow_unsafe_database,
      "Accept a server with fsync or full_page_writes off, for a database that may be "
      "lost (SKUA_ALLOW_UNSAFE_DATABASE)");
}

void add_source_options(CLI::App* command, SourceFlags& flags) {
  command
      ->add_option("--relay", flags.relays,
                   "Relay or PDS, wss://host (SKUA_RELAY); given again: stands by for those before "
                   "it")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      ->add_option("--failover-after", flags.failover_after,
                   "Time after which a relay that cannot be reached is gone; twice as much if it "
                   "sends nothing (SKUA_FAILOVER_AFTER; default 30)")
      ->type_name("SECONDS");
  command
      ->add_option("--failback-after", flags.failback_after,
                   "Time that a preferred relay must work before it takes over again "
                   "(SKUA_FAILBACK_AFTER; default 300)")
      ->type_name("SECONDS");
  command
      ->add_option("--failover-margin", flags.failover_margin,
                   "Maximum propagation skew between relays (SKUA_FAILOVER_MARGIN; default 120)")
      ->type_name("SECONDS");
  add_tap_options(command, flags.tap, flags.tap_password_file);
  command
      ->add_option("--jetstream", flags.jetstream,
                   "A Jetstream, also beside others: wss://host, with "
                   "/xrpc/network.bsky.jetstream.subscribeEvents behind it for version 2 "
                   "(SKUA_JETSTREAM)")
      ->type_name("URL");
  command
      ->add_option("--labeler", flags.labelers,
                   "A labeler, wss://host, also beside others: its labels go into bsky.labels "
                   "(SKUA_LABELER); given again: another one")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      ->add_option("--collection", flags.filter.collections,
                   "Store this collection only, or all of app.bsky.graph.*: sets the stored filter "
                   "(skua filter)")
      ->type_name("NSID")
      ->allow_extra_args(false);
  command
      ->add_option("--did", flags.filter.dids,
                   "Read what this account (DID, handle, at:// URI, bsky.app URL) sends only: sets "
                   "the stored filter")
      ->type_name("DID")
      ->allow_extra_args(false);
  command
      ->add_option("--filter-file", flags.filter.file,
                   "File of collections, prefixes and DIDs, one a line: sets the stored filter, "
                   "and again when the file changes")
      ->type_name("FILE");
  command
      ->add_option("--zstd-dictionary", flags.zstd_dictionary,
                   "Dictionary file with which a Jetstream compresses; without it, it does not "
                   "(SKUA_ZSTD_DICTIONARY)")
      ->type_name("FILE");
  command
      ->add_option(
          "--cursor", flags.cursor,
          "Where to begin: live, oldest, or a sequence number; of a Jetstream its own cursor "
          "(SKUA_CURSOR; default the saved cursor, else live; of a labeler else oldest)")
      ->type_name("live|oldest|NUMBER");
}

void add_tap_options(CLI::App* command, std::optional<std::string>& tap,
                     std::optional<std::string>& password_file) {
  command->add_option("--tap", tap, "A Tap, ws://host:2480 (SKUA_TAP)")->type_name("URL");
  command
      ->add_option("--tap-password-file", password_file,
                   "File whose first line is Tap's admin password (SKUA_TAP_PASSWORD_FILE)")
      ->type_name("FILE");
}

void add_tuning_options(CLI::App* command, std::optional<std::string>& decode_threads,
                        std::optional<std::string>& stats_interval) {
  command
      ->add_option("--decode-threads", decode_threads,
                   "Threads that decode and verify (SKUA_DECODE_THREADS; default the cores, half "
                   "of them without verification)")
      ->type_name("NUMBER");
  command
      ->add_option("--stats-interval", stats_interval,
                   "Time between lines of metrics (SKUA_STATS_INTERVAL; default 5)")
      ->type_name("SECONDS");
  // Its former name, for one version; without a group the help leaves it out.
  command->add_option("--figures-every", stats_interval)->group("");
}

void add_did_docs_option(CLI::App* command, std::optional<std::string>& did_docs) {
  command->add_option("--did-docs", did_docs, kDidDocsHelp)->type_name("FILE");
}

void add_did_docs_option(CLI::App* command, std::optional<std::filesystem::path>& did_docs) {
  command->add_option("--did-docs", did_docs, kDidDocsHelp)->type_name("FILE");
}

void add_plc_option(CLI::App* command, std::optional<std::string>& plc) {
  command->add_option("--plc", plc, "PLC directory (SKUA_PLC_URL; default https://plc.directory)")
      ->type_name("URL");
}

void add_ca_file_option(CLI::App* command, std::optional<std::string>& ca_file) {
  command
      ->add_option("--ca-file", ca_file,
                   "PEM file of certificates to trust besides the system's (SKUA_CA_FILE)")
      ->type_name("FILE");
}

void add_private_hosts_flag(CLI::App* command, bool& allow_private_hosts) {
  command->add_flag("--allow-private-hosts", allow_private_hosts,
                    "Let DIDs and handles lead to loopback and private addresses "
                    "(SKUA_ALLOW_PRIVATE_HOSTS)");
}

void add_dns_option(CLI::App* command, std::optional<std::string>& dns) {
  command->add_option("--dns", dns, "DNS server for handles (SKUA_DNS; default the system's)")
      ->type_name("ADDRESS[:PORT]");
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
  command
      ->add_option("--verify", flags.verify,
                   "What of a commit is checked before it is indexed: signature and operations, "
                   "the signature, or nothing (SKUA_VERIFY; default full)")
      ->type_name("full|signature|none");
}

void add_handles_option(CLI::App* command, VerificationFlags& flags, const char* otherwise) {
  command
      ->add_option("--handles", flags.handles,
                   fmt::format("checked: look each handle up, both ways; claimed: accept the most "
                               "recent claim without verification (SKUA_HANDLES; default {})",
                               otherwise))
      ->type_name("checked|claimed");
}

void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags) {
  add_did_docs_option(command, did_docs);
  command
      ->add_option("--verify", flags.verify,
                   "Whether a repository must be signed by its account (SKUA_VERIFY; default full)")
      ->type_name("full|none");
  add_handles_option(command, flags, "checked");
  add_dns_option(command, flags.dns);
  add_account_options(command, flags);
}

void add_json_flag(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "For programs");
}

}  // namespace skua::cli
