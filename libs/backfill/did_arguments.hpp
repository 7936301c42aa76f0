#pragma once

#include <cstddef>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include "identity/handle_check.hpp"

namespace skua::backfill {

/// Accounts as a person names them (atproto::parse_account_name), and what is wrong with the rest.
struct NamedAccounts {
  /// DIDs and handles (in lower case), each once, in the order in which they came.
  std::vector<std::string> names;
  /// For people, each with its argument or line; the first hundred.
  std::vector<std::string> problems;
  /// All of them.
  std::size_t problem_count = 0;
};

/// Reads command line arguments.
NamedAccounts read_account_arguments(std::span<const std::string> arguments);

/// Reads a file's lines, one account a line. Empty lines and those that begin with # mean nothing;
/// so does what stands behind a # after a blank. `file` is what the problems call it.
NamedAccounts read_account_lines(std::istream& in, const std::string& file);

/// The DIDs of such names: handles are looked up, several at once. Blocks; any thread but the HTTP
/// client's. DIDs come each once, in order; `problems` are the handles that lead nowhere.
NamedAccounts resolve_accounts(const std::vector<std::string>& names,
                               const identity::HandleCheck& check);

}  // namespace skua::backfill
