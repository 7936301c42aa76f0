#include "command_line/help_text.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "command_line/display_text.hpp"

namespace skua::command_line {
namespace {

/// The minimum width of a text beside its indent.
constexpr std::size_t kNarrowest = 20;

/// Returns the line in parts of at most `columns`. All parts but the first begin with `indent`
/// blanks.
std::string hanging(const std::string& line, std::size_t indent, std::size_t columns) {
  if (line.size() <= indent) return line + "\n";
  std::string text = line.substr(0, indent);
  const std::size_t width = std::max(columns, indent + kNarrowest) - indent;
  bool is_first = true;
  for (const std::string& part : wrapped_text(std::string_view(line).substr(indent), width)) {
    if (!is_first) text.append(indent, ' ');
    is_first = false;
    text += part + "\n";
  }
  return text;
}

/// Returns the column where the text of an entry begins, after the two blanks that follow its name.
std::size_t text_column(const std::string& entry) {
  const std::size_t name = entry.find_first_not_of(' ');
  const std::size_t gap = entry.find("  ", name);
  return gap == std::string::npos ? name : entry.find_first_not_of(' ', gap);
}

}  // namespace

std::string HelpFormatter::wrapped_entry(const std::string& entry) const {
  if (!columns_) return entry;
  std::istringstream lines(entry);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += hanging(line, get_column_width(), *columns_);
  }
  return text;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return wrapped_entry(CLI::Formatter::make_subcommand(command));
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return wrapped_entry(CLI::Formatter::make_option(option, is_positional));
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  const std::string footer = CLI::Formatter::make_footer(command);
  return columns_ ? wrapped_footer(footer, *columns_) : footer;
}

std::string wrapped_footer(const std::string& footer, std::size_t columns) {
  std::istringstream lines(footer);
  std::string text;
  std::string paragraph;
  bool has_examples = false;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += hanging(paragraph, 0, columns);
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const bool is_entry = line.starts_with("  ");
    if (!line.empty() && !is_entry && !line.ends_with(':')) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    if (!is_entry) has_examples = line.starts_with("Example");
    text += is_entry && !has_examples ? hanging(line, text_column(line), columns) : line + "\n";
  }
  end_paragraph();
  return text;
}

}  // namespace skua::command_line
