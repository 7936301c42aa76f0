#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Prints the help of commands in lines of at most `columns`: breaks the descriptions of options,
/// and the paragraphs and the exit codes of the footer. Examples are not broken, because users copy
/// them. Without `columns`, lines keep their written form.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::optional<std::size_t> columns) : columns_(columns) {}

  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* command) const override;

 private:
  std::string wrapped_entry(const std::string& entry) const;

  const std::optional<std::size_t> columns_;
};

/// Breaks a footer into lines of at most `columns`. A blank line ends a paragraph. The lines of a
/// section `Examples:` are not broken; other indented lines are entries, such as `  0  success`.
std::string wrapped_footer(const std::string& footer, std::size_t columns);

}  // namespace skua::command_line
