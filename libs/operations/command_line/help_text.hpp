#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Prints the help of commands in lines of at most `columns`: it breaks the meanings of options,
/// and the paragraphs and the exit codes of the footer. Examples stay whole, because they are
/// copied. Without `columns`, lines have the form in which they are written.
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

/// A footer in lines of at most `columns`. A blank line ends a paragraph. The lines of a section
/// `Examples:` stay whole; other indented lines are entries, such as `  0  success`.
std::string wrapped_footer(const std::string& footer, std::size_t columns);

}  // namespace skua::command_line
