#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace skua::command_line::test {

/// A tree of commands with one of each kind.
struct SmallProgram {
  CLI::App app{"A program", "program"};
  std::optional<std::string> text;
  std::vector<std::string> texts;
  std::vector<std::string> words;
  std::string first;
  std::string second;
  bool flag = false;

  SmallProgram() {
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--config", text, "Settings")->type_name("FILE");
    app.add_flag("-q,--quiet", flag, "Less");
    CLI::App* copy = app.add_subcommand("copy", "Copies");
    copy->add_option("FILE", first, "From")->required();
    copy->add_option("TARGET", second, "To")->required();
    copy->add_option("--mode", text, "How")->type_name("fast|safe|NUMBER");
    copy->add_option("--speed", text, "The former name of --mode")->group("");
    copy->add_option("--into", text, "Where")->type_name("FOLDER");
    copy->add_option("--car", texts, "Several")->type_name("FILE");
    CLI::App* fetch = app.add_subcommand("fetch", "Fetches");
    fetch->add_option("WHO", words, "Accounts");
    fetch->add_subcommand("status", "How it goes");
    fetch->add_subcommand("cancel", "Ends it");
    CLI::App* group = app.add_subcommand("group", "Has subcommands");
    group->require_subcommand(1);
    group->add_subcommand("show", "Shows");
    app.add_subcommand("help", "Explains")->add_option("COMMAND", words, "A command");
    app.add_subcommand("secret", "Is not listed")->group("");
  }
};

}  // namespace skua::command_line::test
