#include "account_choice.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "backfill/did_arguments.hpp"
#include "command_line/finish.hpp"
#include "identity/handle_check.hpp"
#include "input_file.hpp"

namespace skua::cli {
namespace {

bool is_did_name(const std::string& name) {
  return name.starts_with("did:");
}

/// Throws UsageError for any problem: nothing has been done yet, and the user can correct all of
/// them.
void require_no_problems(const backfill::NamedAccounts& accounts, const std::string& origin) {
  if (accounts.problem_count == 0) return;
  std::string text;
  for (const std::string& problem : accounts.problems) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", origin, problem);
  }
  const std::size_t more = accounts.problem_count - accounts.problems.size();
  if (more > 0) text += fmt::format("\nand {} more", more);
  throw UsageError(fmt::format("{}\nexpected: {}", text, kAccountForms));
}

}  // namespace

AccountChoice account_choice(const Settings& settings, const VerificationFlags& verification,
                             const std::vector<std::string>& who,
                             const std::vector<std::string>& files, const std::string& file_flag) {
  AccountChoice choice;
  const auto network = network_accounts(settings, verification);
  choice.http.ca_file = network.ca_file;
  choice.http.allow_private_hosts = network.allow_private_hosts;
  choice.dns = dns_server(settings, verification.dns);
  auto named = backfill::read_account_arguments(who);
  require_no_problems(named, "account");
  choice.names = std::move(named.names);
  for (const std::string& file : files) {
    require_file(file_flag, file);
    std::ifstream in(file);
    auto listed = backfill::read_account_lines(in, file);
    require_no_problems(listed, file_flag);
    std::move(listed.names.begin(), listed.names.end(), std::back_inserter(choice.names));
  }
  return choice;
}

std::vector<std::string> look_up(const AccountChoice& accounts, std::size_t& problems) {
  if (std::all_of(accounts.names.begin(), accounts.names.end(), is_did_name)) {
    return accounts.names;
  }
  transport::HttpClient http(accounts.http);
  const identity::HandleCheck check(http, identity::dns_txt_lookup(accounts.dns));
  auto resolved = backfill::resolve_accounts(accounts.names, check);
  for (const std::string& problem : resolved.problems) {
    command_line::print_stderr("skua: {}\n", problem);
  }
  const std::size_t more = resolved.problem_count - resolved.problems.size();
  if (more > 0) command_line::print_stderr("skua: and {} more\n", more);
  problems += resolved.problem_count;
  return std::move(resolved.names);
}

}  // namespace skua::cli
