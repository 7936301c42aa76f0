#include "command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "base/log_format.hpp"
#include "command_line/completion.hpp"
#include "command_line/help_text.hpp"
#include "command_line/unknown_word.hpp"
#include "command_line/walk.hpp"
#include "command_list.hpp"
#include "commands.hpp"
#include "completion_values.hpp"
#include "invocation.hpp"
#include "progress.hpp"
#include "setting_option.hpp"
#include "version.hpp"

namespace skua::cli {
namespace {

/// The options that all commands have.
struct GlobalFlags {
  std::optional<std::string> config;
  std::optional<std::string> log_level;
  std::optional<std::string> log_format;
  bool quiet = false;
};

void declare_global_options(CLI::App& app, GlobalFlags& flags) {
  app.footer(
      "Skua looks for each setting in this order: flag, environment, file of --config, "
      "default.\n\nExamples:\n  skua migrate --database postgresql://localhost/skua\n  skua run "
      "--database postgresql://localhost/skua --relay wss://relay1.us-east.bsky.network");
  command_line::explain_exit_codes(
      app, "the command has done all of its work",
      "it failed, or it could not do a part of its work; stderr has the "
      "reason");
  app.set_version_flag("-V,--version", kVersion, "Print the version and exit");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--config", flags.config, "TOML file with settings (SKUA_CONFIG)")
      ->type_name("FILE");
  add_setting(&app, kLogLevel, flags.log_level);
  add_setting(&app, kLogFormat, flags.log_format);
  app.add_flag("-q,--quiet", flags.quiet, "Print errors and the result only");
}

void apply(const Settings& settings, const GlobalFlags& flags) {
  set_quiet(flags.quiet);
  if (flags.quiet && !flags.log_level) {
    skua::set_log_level("error");
  } else if (const auto level = settings.find(kLogLevel, flags.log_level)) {
    if (!skua::set_log_level(level->value)) {
      throw UsageError(level->origin + ": '" + level->value +
                       "' is not one of trace, debug, info, warn, error, off");
    }
  }
  const Found format = settings.find_or_default(kLogFormat, flags.log_format);
  if (!skua::set_log_format(format.value)) {
    throw UsageError(format.origin + ": '" + format.value + "' is not one of text, json");
  }
}

/// The words of a shell that wants the last one completed: `skua completion words -- WORD...`.
/// Nothing for any other command line.
std::optional<std::vector<std::string>> words_to_complete(const std::vector<std::string>& words) {
  const std::vector<std::string> before = {"completion", "words", "--"};
  if (words.size() < before.size() || !std::equal(before.begin(), before.end(), words.begin())) {
    return std::nullopt;
  }
  return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(before.size()),
                                  words.end());
}

/// Parses; throws every error as a UsageError. Returns the exit code if nothing is left to do:
/// after --help and --version.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    throw UsageError(
        fmt::format("{}; `{} --help` says more", error.what(), command_line::full_name(*command)));
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Indexes the AT Protocol network into PostgreSQL.", "skua");
  GlobalFlags flags;
  declare_global_options(app, flags);
  const auto commands = make_commands(app);
  command_line::hide_argument_types(app);

  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto partial = words_to_complete(words)) {
    fmt::print("{}",
               command_line::completion_text(command_line::complete(app, *partial, known_values)));
    return kSuccess;
  }
  if (words.empty()) throw UsageError("name a command; `skua --help` lists them");
  if (const auto problem = command_line::unknown_word(app, words)) throw UsageError(*problem);
  if (const auto code = parse(app, argc, argv)) return *code;
  set_invocation(argv[0], flags.config);
  const bool is_file_written = std::any_of(commands.begin(), commands.end(),
                                           [](const auto& each) { return each->writes_config(); });
  const Settings settings =
      is_file_written ? Settings(flags.config, Settings::WithoutFile{}) : Settings(flags.config);
  apply(settings, flags);
  for (const auto& command : commands) {
    if (const auto code = command->run(settings)) return *code;
  }
  return kUsage;
}

}  // namespace skua::cli
