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

// Options that several commands share. The type of an option is its value in --help, and tells
// shells what to complete: FILE and FOLDER are paths, words in lower case are values.

void add_database_option(CLI::App* command, std::optional<std::string>& database);
/// For commands that write data that must not be lost.
void add_unsafe_database_flag(CLI::App* command, bool& allow_unsafe_database);
/// The sources of `skua run`.
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
/// `otherwise`: the default in its help.
void add_handles_option(CLI::App* command, VerificationFlags& flags, const char* otherwise);
/// For the look-up of accounts' documents.
void add_account_options(CLI::App* command, VerificationFlags& flags);
/// For the look-up of handles that name accounts.
void add_handle_options(CLI::App* command, VerificationFlags& flags);
/// For checking whole repositories, and looking up their accounts' documents and handles.
void add_repository_options(CLI::App* command, std::optional<std::string>& did_docs,
                            VerificationFlags& flags);
void add_json_flag(CLI::App* command, bool& json);
/// The limits of a backfill.
void add_backfill_limits(CLI::App* command, BackfillRequestFlags& flags);
/// The flags of `skua run` that request a backfill.
void add_backfill_of_run(CLI::App* command, BackfillRequestFlags& flags);

}  // namespace skua::cli
