#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "account_choice.hpp"
#include "source_choice.hpp"
#include "verification.hpp"

namespace skua::cli {

// Options that several commands have in common.

inline constexpr const char* kDidDocsHelp =
    "Verify commits with the keys of this file: a DID document, a JSON array of them, or an "
    "object of them by DID; also .zst";

inline constexpr const char* kDnsHelp =
    "DNS server for handles, ADDRESS or ADDRESS:PORT (SKUA_DNS; default the system's)";

inline constexpr const char* kCaFileHelp =
    "PEM file of certificates to trust besides the system's (SKUA_CA_FILE)";

void add_database_option(CLI::App* command, std::optional<std::string>& database);
/// Where `skua run` reads from.
void add_source_options(CLI::App* command, SourceFlags& flags);
void add_tuning_options(CLI::App* command, std::optional<std::string>& decode_threads,
                        std::optional<std::string>& figures_every);
/// How the handles of accounts that arguments name are looked up.
void add_handle_options(CLI::App* command, VerificationFlags& flags);
/// Where accounts' documents are looked up.
void add_account_options(CLI::App* command, VerificationFlags& flags);
/// How whole repositories are checked, and their accounts' documents and handles found.
void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags);

}  // namespace skua::cli
