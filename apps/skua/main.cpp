#include <exception>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "backfill_arguments.hpp"
#include "base/log.hpp"
#include "commands.hpp"
#include "filter_arguments.hpp"
#include "inspect_frames.hpp"
#include "inspect_repo.hpp"
#include "repo_arguments.hpp"
#include "shared_arguments.hpp"
#include "source_arguments.hpp"
#include "tap_arguments.hpp"

namespace {

using namespace skua::cli;

constexpr const char* kPrecedence =
    "Every setting is looked for in this order: flag, environment, file of --config, default.";

/// Parses, then calls the one command that was named.
int command_line(int argc, char** argv) {
  CLI::App app{"Indexes the AT Protocol network into PostgreSQL."};
  app.footer(
      fmt::format("{}\n\nExample:\n  skua migrate --database postgresql://localhost/skua\n"
                  "  skua run --database postgresql://localhost/skua --relay "
                  "wss://relay1.us-east.bsky.network",
                  kPrecedence));
  app.set_version_flag("--version", std::string("skua ") + SKUA_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  std::optional<std::string> config;
  std::optional<std::string> log_level;
  app.add_option("--config", config, "TOML file with settings (SKUA_CONFIG)");
  app.add_option("--log-level", log_level,
                 "trace, debug, info, warn, error or off (SKUA_LOG_LEVEL; default info)");

  RunFlags run_flags;
  CLI::App* run_command = app.add_subcommand("run", "Index live sources until stopped");
  add_source_options(run_command, run_flags.source);
  run_command->add_option("--verify", run_flags.verification.verify,
                          "What of commits is checked before they are believed: full, signature, "
                          "or none (SKUA_VERIFY; default full)");
  run_command->add_option("--resync", run_flags.verification.resync,
                          "Which repositories wait for a resync when something of them was missed: "
                          "complete, whose history was brought in, or all (SKUA_RESYNC; default "
                          "complete)");
  run_command->add_option("--handles", run_flags.verification.handles,
                          "checked: looked up before they are believed for good; claimed: not, who "
                          "claims one last has it (SKUA_HANDLES; default checked)");
  run_command->add_option(
      "--dns", run_flags.verification.dns,
      "DNS server for handles, ADDRESS or ADDRESS:PORT (SKUA_DNS; default the system's)");
  add_account_options(run_command, run_flags.verification);
  add_database_option(run_command, run_flags.database);
  add_tuning_options(run_command, run_flags.decode_threads, run_flags.figures_every);
  add_history_of_run(run_command, run_flags.history);
  run_command->footer(
      "Beside the stream it works on whatever `skua backfill` left queued, and downloads "
      "repositories of which\nsomething was missed anew.\n"
      "Keys come from DID documents, which are asked for when an account is first seen; `skua "
      "identity import`\nbrings most of them ahead.\n\n"
      "Example:\n  skua run --relay wss://relay1.us-east.bsky.network --database "
      "postgresql://localhost/skua\n"
      "  skua run --relay wss://relay1.us-east.bsky.network --collection 'app.bsky.graph.*' "
      "--filter-file more.txt\n"
      "  skua run --relay wss://relay1.us-east.bsky.network --relay "
      "wss://relay1.us-west.bsky.network "
      "--database postgresql://localhost/skua\n"
      "  skua run --tap ws://localhost:2480 --tap-password-file tap.password --database "
      "postgresql://localhost/skua\n"
      "  skua run --relay wss://relay1.us-east.bsky.network --labeler wss://mod.bsky.app "
      "--database postgresql://localhost/skua");

  std::optional<std::string> migrate_database;
  CLI::App* migrate_command =
      app.add_subcommand("migrate", "Bring the database's schema up to date");
  add_database_option(migrate_command, migrate_database);
  migrate_command->footer("Example:\n  skua migrate --database postgresql://localhost/skua");

  ReplayFlags replay_flags;
  CLI::App* replay_command =
      app.add_subcommand("replay", "Index a capture from its first frame, and end");
  replay_command->add_option("FILE", replay_flags.file, "A capture, as `skua record` makes it")
      ->required();
  add_database_option(replay_command, replay_flags.database);
  replay_command->add_option("--did-docs", replay_flags.did_docs, kDidDocsHelp);
  replay_command->add_option(
      "--verify", replay_flags.verification.verify,
      "What is checked, given keys: full, signature, or none (default full)");
  add_account_options(replay_command, replay_flags.verification);
  add_tuning_options(replay_command, replay_flags.decode_threads, replay_flags.figures_every);
  replay_command->footer(
      "No cursor is saved: a replay of what is stored already changes nothing. Commits are "
      "verified "
      "with\n--did-docs or --plc, against what the capture itself says before them.\n\n"
      "Example:\n  skua replay monday.frames --database postgresql://localhost/skua");

  const BackfillArguments backfill_arguments(app);
  const RepoArguments repo_arguments(app);
  const TapArguments tap_arguments(app);
  const FilterArguments filter_arguments(app);
  const SourceArguments source_arguments(app);

  RecordFlags record_flags;
  CLI::App* record_command =
      app.add_subcommand("record", "Write a relay's frames to a capture, until stopped");
  record_command->add_option("URL", record_flags.url, "Relay or PDS, wss://host")->required();
  record_command->add_option("FILE", record_flags.file, "Capture to append to")->required();
  record_command->add_option("--cursor", record_flags.cursor,
                             "Where to begin: live, oldest, or a sequence number (default live)");
  record_command->add_option("--ca-file", record_flags.ca_file,
                             "PEM file of certificates to trust besides the system's");
  record_command->add_option("--frames", record_flags.frames, "Stop after so many frames");
  record_command->footer(
      "Example:\n  skua record wss://relay1.us-east.bsky.network monday.frames --frames 10000");

  CLI::App* inspect_command =
      app.add_subcommand("inspect", "Show what a capture or a repository holds");
  inspect_command->require_subcommand(1);
  std::string frames_file;
  CLI::App* frames_command = inspect_command->add_subcommand(
      "frames", "One JSON line an op, account or identity event of a capture");
  frames_command->add_option("FILE", frames_file, "A capture")->required();
  std::optional<std::filesystem::path> did_docs;
  frames_command->add_option("--did-docs", did_docs, kDidDocsHelp);
  frames_command->footer(
      "After a bad frame it goes on, and exits with 1 at the end. With --did-docs each line of a "
      "commit says\n\"verified\":true, or false and the reason.\n\n"
      "Example:\n  skua inspect frames monday.frames | jq .commit.collection\n"
      "  skua inspect frames monday.frames --did-docs documents.json > /dev/null");
  std::string repo_file;
  bool repo_json = false;
  CLI::App* repo_command =
      inspect_command->add_subcommand("repo", "The records of a repository's CAR file");
  repo_command->add_option("FILE", repo_file, "A CAR file, as getRepo gives it")->required();
  repo_command->add_flag("--json", repo_json, "One JSON line a record, with its content");
  repo_command->add_option("--did-docs", did_docs, kDidDocsHelp);
  repo_command->footer(
      "Prints path<TAB>cid a line, totals on stderr.\n\n"
      "Example:\n  skua inspect repo alice.car | cut -f1");

  StatusFlags status_flags;
  CLI::App* status_command =
      app.add_subcommand("status", "Sources, cursors, lag, tables and dead letters of a database");
  add_database_option(status_command, status_flags.database);
  status_command->add_flag("--json", status_flags.json, "For programs");
  status_command->footer("Example:\n  skua status --database postgresql://localhost/skua");

  IdentityFlags identity_flags;
  CLI::App* identity_command =
      app.add_subcommand("identity", "Show who an account is: key, host, handle");
  identity_command->add_option("WHO", identity_flags.who, kAccountForms);
  identity_command->add_option("--plc", identity_flags.plc,
                               "PLC directory (SKUA_PLC_URL; default https://plc.directory)");
  add_database_option(identity_command, identity_flags.database);
  identity_command->add_option(
      "--ca-file", identity_flags.ca_file,
      "PEM file of certificates to trust besides the system's (SKUA_CA_FILE)");
  identity_command->add_option(
      "--dns", identity_flags.dns,
      "DNS server, ADDRESS or ADDRESS:PORT (SKUA_DNS; default the system's)");
  identity_command->add_flag("--allow-private-hosts", identity_flags.allow_private_hosts,
                             "Let DIDs and handles lead to loopback and private addresses");
  identity_command->add_flag("--refresh", identity_flags.refresh,
                             "Ask the directory, whatever the database knows");
  identity_command->add_flag("--json", identity_flags.json, "For programs");
  identity_command->footer(
      "With a database, what it knows of the account for less than a day is shown, and what is "
      "fetched is kept.\n\n"
      "Example:\n  skua identity bsky.app");
  IdentityImportFlags identity_import_flags;
  CLI::App* identity_import_command = identity_command->add_subcommand(
      "import", "Bring an export of the PLC directory into the database");
  identity_import_command
      ->add_option("SOURCE", identity_import_flags.source,
                   "A file of JSON lines, - for standard input, or a directory's URL")
      ->required();
  add_database_option(identity_import_command, identity_import_flags.database);
  identity_import_command->add_option(
      "--ca-file", identity_import_flags.ca_file,
      "PEM file of certificates to trust besides the system's (SKUA_CA_FILE)");
  identity_import_command->add_option(
      "--after", identity_import_flags.after,
      "Of a URL: only operations made later, such as 2026-07-04T00:00:00Z");
  identity_import_command->footer(
      "Newer operations replace older ones, in whatever order they come: it can be repeated.\n\n"
      "Example:\n  zstdcat plc-export.jsonl.zst | skua identity import - --database "
      "postgresql://localhost/skua");

  // CLI11 would only say that a command is required.
  if (const std::string word = argc > 1 ? argv[1] : ""; !word.empty() && word.front() != '-') {
    const auto commands =
        app.get_subcommands([&](const CLI::App* command) { return command->get_name() == word; });
    if (commands.empty()) {
      throw UsageError("there is no command '" + word + "'; skua --help lists them");
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const CLI::CallForAllHelp& call) {
    return app.exit(call);
  } catch (const CLI::CallForVersion& call) {
    return app.exit(call);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsage;
  }

  const Settings settings(config);
  if (const auto level = settings.find(kLogLevel, log_level)) {
    if (!skua::set_log_level(level->value)) {
      throw UsageError(level->origin + ": '" + level->value +
                       "' is none of trace, debug, info, warn, error, off");
    }
  }
  if (*run_command) return run(settings, run_flags);
  if (*migrate_command) return migrate(settings, migrate_database);
  if (*replay_command) return replay(settings, replay_flags);
  if (const auto code = backfill_arguments.run(settings)) return *code;
  if (const auto code = repo_arguments.run(settings)) return *code;
  if (const auto code = tap_arguments.run(settings)) return *code;
  if (const auto code = filter_arguments.run(settings)) return *code;
  if (const auto code = source_arguments.run(settings)) return *code;
  if (*record_command) return record(settings, record_flags);
  if (*frames_command)
    return skua::app::inspect_frames(frames_file, did_docs, std::cout, std::cerr);
  if (*repo_command)
    return skua::app::inspect_repo(repo_file, repo_json, did_docs, std::cout, std::cerr);
  if (*identity_import_command) return identity_import(settings, identity_import_flags);
  if (*identity_command) return identity(settings, identity_flags);
  return status(settings, status_flags);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return command_line(argc, argv);
  } catch (const UsageError& error) {
    fmt::print(stderr, "skua: {}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "skua: {}\n", error.what());
    return kFailure;
  }
}
