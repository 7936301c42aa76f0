#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "account_choice.hpp"
#include "backfill_request.hpp"
#include "source_choice.hpp"
#include "verification.hpp"

namespace skua::cli {

// Options that several commands have in common. The type of an option is its value in --help, and
// tells shells what to complete: FILE and FOLDER are paths, words in small letters are values.

void add_database_option(CLI::App* command, std::optional<std::string>& database);
/// Of commands that write what must not be lost.
void add_unsafe_database_flag(CLI::App* command, bool& allow_unsafe_database);
/// Where `skua run` reads from.
void add_source_options(CLI::App* command, SourceFlags& flags);
void add_tap_options(CLI::App* command, std::optional<std::string>& tap,
                     std::optional<std::string>& password_file);
void add_tuning_options(CLI::App* command, std::optional<std::string>& decode_threads,
                        std::optional<std::string>& stats_interval);

void add_did_docs_option(CLI::App* command, std::optional<std::string>& did_docs);
void add_did_docs_option(CLI::App* command, std::optional<std::filesystem::path>& did_docs);
void add_plc_option(CLI::App* command, std::optional<std::string>& plc);
void add_ca_file_option(CLI::App* command, std::optional<std::string>& ca_file);
void add_private_hosts_flag(CLI::App* command, bool& allow_private_hosts);
void add_dns_option(CLI::App* command, std::optional<std::string>& dns);
void add_verify_option(CLI::App* command, VerificationFlags& flags);
/// `otherwise`: what holds without it, for its help.
void add_handles_option(CLI::App* command, VerificationFlags& flags, const char* otherwise);
/// Where accounts' documents are looked up.
void add_account_options(CLI::App* command, VerificationFlags& flags);
/// Where handles that name accounts are looked up.
void add_handle_options(CLI::App* command, VerificationFlags& flags);
/// How whole repositories are checked, and their accounts' documents and handles found.
void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags);
void add_json_flag(CLI::App* command, bool& json);
/// How much a backfill does at a time.
void add_backfill_limits(CLI::App* command, BackfillRequestFlags& flags);
/// The flags of `skua run` that ask for a backfill.
void add_backfill_of_run(CLI::App* command, BackfillRequestFlags& flags);

}  // namespace skua::cli
