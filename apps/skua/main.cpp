#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "base/memory_trimmer.hpp"
#include "command_line/completion.hpp"
#include "command_line/display_text.hpp"
#include "command_line/finish.hpp"
#include "command_line/help_text.hpp"
#include "command_line/unknown_word.hpp"
#include "command_line/walk.hpp"
#include "commands.hpp"
#include "settings.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

/// The maximum width of a line of help on a terminal.
constexpr std::size_t kWidestHelp = 120;

/// Returns the help of an option: its meaning, its variable and its default.
std::string help_of(const OptionUse& use) {
  const OptionText& option = *use.option;
  const std::string& meaning = use.other.meaning.empty() ? option.meaning : use.other.meaning;
  const std::string& otherwise =
      use.other.default_text.empty() ? option.default_for_people() : use.other.default_text;
  std::string more = option.environment;
  if (!otherwise.empty()) more += fmt::format("{}default {}", more.empty() ? "" : "; ", otherwise);
  return more.empty() ? meaning : fmt::format("{} ({})", meaning, more);
}

/// Declares the commands in CLI11, and stores the parsed values. The object must not move, because
/// CLI11 has references to it.
class Parser {
 public:
  Parser() : root_("Indexes the AT Protocol network into PostgreSQL.", "skua") {
    auto columns = command_line::terminal_width();
    if (columns) columns = std::min(*columns, kWidestHelp);
    root_.formatter(std::make_shared<command_line::HelpFormatter>(columns));
    root_.footer(help_text("skua"));
    root_.set_version_flag("-V,--version", kVersion, "Print the version and exit");
    root_.require_subcommand(1);
    root_.fallthrough();
    for (const OptionText* option :
         std::initializer_list<const OptionText*>{&kConfig, &kLogLevel, &kLogFormat, &kQuiet}) {
      declare(root_, *option);
    }
    for (const CommandSpec& command : all_commands()) declare(command);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  const CLI::App& root() const { return root_; }

  /// Returns the completions of the last word.
  command_line::Completion complete(const std::vector<std::string>& words) const {
    using Candidates = std::vector<command_line::Completion::Candidate>;
    return command_line::complete(root_, words,
                                  [this](const CLI::App&, const CLI::Option& argument) {
                                    Candidates candidates;
                                    const auto known = known_values_.find(&argument);
                                    if (known == known_values_.end()) return candidates;
                                    for (auto& [text, description] : known->second())
                                      candidates.push_back({text, description});
                                    return candidates;
                                  });
  }

  /// Parses the command line, and throws every error as a UsageError. Returns the exit code if
  /// nothing is left to do, which is the case after --help and --version.
  std::optional<int> parse(int argc, char** argv) {
    try {
      root_.parse(argc, argv);
      return std::nullopt;
    } catch (const CLI::Success& request) {
      return root_.exit(request);
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}; `{} --help` says more", error.what(),
                                   command_line::full_name(chosen_app())));
    }
  }

  /// Returns the chosen command. Valid after the parse.
  const CommandSpec& chosen() const { return *commands_.at(&chosen_app()); }

  Invocation::Given given() const {
    Invocation::Given given;
    for (const Values& values : values_) {
      if (values.is_set) given[values.name] = {"true"};
      if (values.one) given[values.name] = {*values.one};
      if (!values.several.empty()) given[values.name] = values.several;
    }
    return given;
  }

 private:
  /// The texts that CLI11 parses for an option of one command.
  struct Values {
    std::string name;
    bool is_set = false;
    std::optional<std::string> one = std::nullopt;
    std::vector<std::string> several = {};
  };

  void declare(const CommandSpec& command) {
    const std::size_t last = command.name.rfind(' ');
    CLI::App& parent = last == std::string::npos ? root_ : *apps_.at(command.name.substr(0, last));
    CLI::App& app = *parent.add_subcommand(command.name.substr(last + 1), command.summary);
    apps_[command.name] = &app;
    commands_[&app] = &command;
    // At most one subcommand is accepted, because the value of an argument may be the name of a
    // subcommand.
    app.require_subcommand(command.run ? 0 : 1, 1);
    if (!command.group.empty()) app.group(command.group);
    app.footer(command.help.empty() ? help_text("skua " + command.name) : command.help);
    for (const OptionUse& use : command.options) declare(app, use);
    for (const OptionText* one : command.alternatives) {
      for (const OptionText* other : command.alternatives) {
        if (one != other) app.get_option(one->name)->excludes(app.get_option(other->name));
      }
    }
  }

  void declare(CLI::App& app, const OptionUse& use) {
    const OptionText& option = *use.option;
    Values& values = values_.emplace_back(Values{.name = option.name});
    const CLI::Option* const declared =
        declare(app, option, values, option.name, help_of(use))
            ->type_name(use.other.type.empty() ? option.type : use.other.type)
            ->required(use.other.is_required);
    if (option.known_values) known_values_[declared] = option.known_values;
    if (!option.former_key.empty()) {
      // CLI11 hides options without a group from the help.
      declare(app, option, values, flag_of_key(option.former_key), "")->group("");
    }
  }

  static CLI::Option* declare(CLI::App& app, const OptionText& option, Values& values,
                              const std::string& name, const std::string& help) {
    switch (option.form) {
      case OptionText::Form::Flag:
        return app.add_flag(name, values.is_set, help);
      case OptionText::Form::Single:
        return app.add_option(name, values.one, help);
      case OptionText::Form::List:
        break;
    }
    // A flag takes one value at a time, so that the next word is an argument again.
    const bool is_argument = !name.starts_with('-');
    return app.add_option(name, values.several, help)
        ->allow_extra_args(is_argument || option.takes_several);
  }

  const CLI::App& chosen_app() const {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  CLI::App root_;
  /// A deque is used because references to its elements stay valid.
  std::deque<Values> values_;
  std::map<std::string, CLI::App*> apps_;
  std::map<const CLI::App*, const CommandSpec*> commands_;
  std::map<const CLI::Option*, decltype(OptionText::known_values)> known_values_;
};

/// Returns the words of a shell that requests the completion of the last one: `skua completion
/// words -- WORD...`. Returns nothing for any other command line.
std::optional<std::vector<std::string>> words_to_complete(const std::vector<std::string>& words) {
  const std::vector<std::string> before = {"completion", "words", "--"};
  if (words.size() < before.size() || !std::equal(before.begin(), before.end(), words.begin())) {
    return std::nullopt;
  }
  return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(before.size()),
                                  words.end());
}

/// Reads the file of --config, except for `skua init`, which writes this file.
SettingsFile settings_file(const Invocation::Given& given, const CommandSpec& command) {
  const auto named = Invocation(given).find(kConfig);
  return named && command.name != "init" ? SettingsFile(named->value, named->origin)
                                         : SettingsFile();
}

void set_up_log(const Invocation& invocation) {
  set_quiet(invocation[kQuiet]);
  if (invocation[kQuiet] && !invocation.is_given(kLogLevel)) {
    skua::set_log_level("error");
  } else if (const auto level = invocation[kLogLevel];
             level && !skua::set_log_level(level->value)) {
    refuse_word(*level, {"trace", "debug", "info", "warn", "error", "off"});
  }
  const SettingValue format = invocation[kLogFormat];
  if (!skua::set_log_format(format.value)) refuse_word(format, {"text", "json"});
}

/// Parses the command line, reads the settings, and runs the command. Returns the exit code. Throws
/// UsageError for a wrong command line, and std::exception if the command fails.
int run_command_line(int argc, char** argv) {
  Parser parser;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto partial = words_to_complete(words)) {
    fmt::print("{}", command_line::completion_text(parser.complete(*partial)));
    return kSuccess;
  }
  if (words.empty()) throw UsageError("name a command; `skua --help` lists them");
  if (const auto problem = command_line::unknown_word(parser.root(), words)) {
    throw UsageError(*problem);
  }
  if (const auto code = parser.parse(argc, argv)) return *code;
  const CommandSpec& command = parser.chosen();
  Invocation invocation(parser.given(), settings_file(parser.given(), command));
  invocation.program = argv[0];
  invocation.commands = &parser.root();
  set_up_log(invocation);
  return command.run(invocation);
}

int exit_code(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const UsageError& error) {
    print_error(error.what());
    return kUsage;
  } catch (const std::exception& error) {
    // If stdout failed, `finish` reports that error instead.
    if (!command_line::output_failed()) print_error(error.what());
    return kFailure;
  }
}

}  // namespace
}  // namespace skua::cli

int main(int argc, char** argv) {
  const skua::LogSummaries log_summaries;
  const skua::MemoryTrimmer memory_trimmer;
  return skua::command_line::finish("skua", skua::cli::exit_code(argc, argv));
}
