#include "shared_arguments.hpp"

namespace skua::cli {

void add_database_option(CLI::App* command, std::optional<std::string>& database) {
  command->add_option("--database", database,
                      "Where to write, postgresql://user@host/name (SKUA_DATABASE_URL)");
}

void add_source_options(CLI::App* command, SourceFlags& flags) {
  command
      ->add_option("--relay", flags.relays,
                   "Relay or PDS, wss://host (SKUA_RELAY); given again: stands by for those before "
                   "it")
      ->allow_extra_args(false);
  command->add_option("--failover-after", flags.failover_after,
                      "Seconds after which a relay that cannot be reached is gone; twice as many "
                      "if it says nothing (SKUA_FAILOVER_AFTER; default 30)");
  command->add_option("--failback-after", flags.failback_after,
                      "Seconds that a preferred relay must be well before it takes over again "
                      "(SKUA_FAILBACK_AFTER; default 300)");
  command->add_option("--failover-margin", flags.failover_margin,
                      "Seconds that one relay may have a thing later than another at most "
                      "(SKUA_FAILOVER_MARGIN; default 120)");
  command->add_option("--tap", flags.tap, "A Tap, ws://host:2480, also beside others (SKUA_TAP)");
  command->add_option("--tap-password-file", flags.tap_password_file,
                      "File whose first line is Tap's admin password (SKUA_TAP_PASSWORD_FILE)");
  command->add_option(
      "--jetstream", flags.jetstream,
      "A Jetstream, also beside others: wss://host, with /xrpc/network.bsky.jetstream."
      "subscribeEvents behind it for version 2 (SKUA_JETSTREAM)");
  command
      ->add_option("--labeler", flags.labelers,
                   "A labeler, wss://host, also beside others: its labels go into bsky.labels "
                   "(SKUA_LABELER); given again: another one")
      ->allow_extra_args(false);
  command
      ->add_option("--collection", flags.filter.collections,
                   "Store this collection only, or all of app.bsky.graph.*: sets the stored filter "
                   "(skua filter)")
      ->allow_extra_args(false);
  command
      ->add_option("--did", flags.filter.dids,
                   "Read what this account (DID, handle, at:// URI, bsky.app URL) sends only: sets "
                   "the stored filter")
      ->allow_extra_args(false);
  command->add_option("--filter-file", flags.filter.file,
                      "File of collections, prefixes and DIDs, one a line: sets the stored filter, "
                      "and again when the file changes");
  command->add_option("--zstd-dictionary", flags.zstd_dictionary,
                      "Dictionary file with which a Jetstream compresses; without it, it does not "
                      "(SKUA_ZSTD_DICTIONARY)");
  command->add_option(
      "--cursor", flags.cursor,
      "Where to begin: live, oldest, or a sequence number; of a Jetstream its own cursor "
      "(SKUA_CURSOR; default the saved cursor, else live; of a labeler else oldest)");
}

void add_tuning_options(CLI::App* command, std::optional<std::string>& decode_threads,
                        std::optional<std::string>& figures_every) {
  command->add_option(
      "--decode-threads", decode_threads,
      "Threads that decode and verify (SKUA_DECODE_THREADS; default the cores, half of "
      "them without verification)");
  command->add_option("--figures-every", figures_every,
                      "Seconds between lines of figures (SKUA_FIGURES_EVERY; default 5)");
}

void add_handle_options(CLI::App* command, VerificationFlags& flags) {
  command->add_option("--dns", flags.dns, kDnsHelp);
  command->add_option("--ca-file", flags.ca_file, kCaFileHelp);
  command->add_flag("--allow-private-hosts", flags.allow_private_hosts,
                    "Let handles lead to loopback and private addresses "
                    "(SKUA_ALLOW_PRIVATE_HOSTS)");
}

void add_account_options(CLI::App* command, VerificationFlags& flags) {
  command->add_option("--plc", flags.plc,
                      "PLC directory (SKUA_PLC_URL; default https://plc.directory)");
  command->add_option("--ca-file", flags.ca_file, kCaFileHelp);
  command->add_flag("--allow-private-hosts", flags.allow_private_hosts,
                    "Let DIDs and handles lead to loopback and private addresses "
                    "(SKUA_ALLOW_PRIVATE_HOSTS)");
}

void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags) {
  command->add_option("--did-docs", did_docs, kDidDocsHelp);
  command->add_option(
      "--verify", flags.verify,
      "full or none: whether repositories must be signed by their accounts (SKUA_VERIFY; default "
      "full)");
  command->add_option("--handles", flags.handles,
                      "checked or claimed, as for `skua run` (SKUA_HANDLES; default checked)");
  command->add_option("--dns", flags.dns, kDnsHelp);
  add_account_options(command, flags);
}

}  // namespace skua::cli
