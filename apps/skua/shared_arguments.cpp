#include "shared_arguments.hpp"

namespace skua::cli {

void add_database_option(CLI::App* command, std::optional<std::string>& database) {
  command->add_option("--database", database,
                      "Where to write, postgresql://user@host/name (SKUA_DATABASE_URL)");
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

void add_account_options(CLI::App* command, VerificationFlags& flags) {
  command->add_option("--plc", flags.plc,
                      "PLC directory (SKUA_PLC_URL; default https://plc.directory)");
  command->add_option("--ca-file", flags.ca_file,
                      "PEM file of certificates to trust besides the system's (SKUA_CA_FILE)");
  command->add_flag("--allow-private-hosts", flags.allow_private_hosts,
                    "Let DIDs and handles lead to loopback and private addresses "
                    "(SKUA_ALLOW_PRIVATE_HOSTS)");
}

}  // namespace skua::cli
