#pragma once

#include <cstddef>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/handle_check.hpp"

namespace skua::backfill {

/// Accounts as a user names them (atproto::parse_account_name), and the problems of invalid names.
struct NamedAccounts {
  /// The DIDs and handles, without duplicates, in their original order. Handles are in lower case.
  std::vector<std::string> names;
  /// The first hundred problems, for users, each with its argument or line.
  std::vector<std::string> problems;
  /// The total number of problems.
  std::size_t problem_count = 0;
};

NamedAccounts read_account_arguments(std::span<const std::string> arguments);

/// Reads the lines of a file, one account per line. Ignores empty lines, lines that begin with #,
/// and the text after a # that follows a blank. `file` is the file's name in problems.
NamedAccounts read_account_lines(std::istream& in, const std::string& file);

/// Returns the DIDs of these names, unique and in order. Looks handles up, several at once.
/// `problems` are the handles that do not resolve. It blocks, so any thread but the HTTP client's
/// may call it.
NamedAccounts resolve_accounts(const std::vector<std::string>& names,
                               const documents::HandleCheck& check);

/// Escapes a text for the value of a query parameter (RFC 3986): all characters except letters,
/// digits and `-._~:`.
std::string query_text(std::string_view text);

}  // namespace skua::backfill
