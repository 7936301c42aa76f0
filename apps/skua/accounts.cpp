#include "accounts.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "backfill/did_arguments.hpp"
#include "command_line/finish.hpp"
#include "documents/handle_check.hpp"

namespace skua::cli {
namespace {

bool is_did_name(const std::string& name) {
  return name.starts_with("did:");
}

/// Throws UsageError if there is any problem. No request was made yet, so the user can correct all
/// problems at once.
void require_no_problems(const backfill::NamedAccounts& accounts, const std::string& origin) {
  if (accounts.problem_count == 0) return;
  std::string text;
  for (const std::string& problem : accounts.problems) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", origin, problem);
  }
  const std::size_t more = accounts.problem_count - accounts.problems.size();
  if (more > 0) text += fmt::format("\nand {} more", more);
  throw UsageError(fmt::format("{}\nexpected: {}", text, kWho.meaning));
}

}  // namespace

AccountChoice account_choice(const Invocation& invocation, const std::vector<std::string>& who,
                             const std::vector<std::string>& files, const std::string& file_flag) {
  AccountChoice choice;
  const auto network = network_accounts(invocation);
  choice.http.ca_file = network.ca_file;
  choice.http.allow_private_hosts = network.allow_private_hosts;
  choice.dns = invocation[kDns];
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
  const documents::HandleCheck check(http, documents::dns_txt_lookup(accounts.dns));
  auto resolved = backfill::resolve_accounts(accounts.names, check);
  for (const std::string& problem : resolved.problems) {
    command_line::print_stderr("skua: {}\n", problem);
  }
  const std::size_t more = resolved.problem_count - resolved.problems.size();
  if (more > 0) command_line::print_stderr("skua: and {} more\n", more);
  problems += resolved.problem_count;
  return std::move(resolved.names);
}

accounts::NetworkAccountsOptions network_accounts(const Invocation& invocation) {
  accounts::NetworkAccountsOptions accounts;
  accounts.plc_url = invocation[kPlc];
  accounts.ca_file = invocation[kCaFile];
  accounts.allow_private_hosts = invocation[kAllowPrivateHosts];
  return accounts;
}

std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file) {
  require_file(kDidDocs.name, file);
  try {
    return std::make_unique<accounts::DocumentAccounts>(file);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("{}: {}", kDidDocs.name, error.what()));
  }
}

std::optional<documents::DnsServer> handle_checks(const Invocation& invocation) {
  const bool is_wanted = invocation[kHandles] == Handles::Checked;
  if (!is_wanted || !invocation[kVerify]) return std::nullopt;
  return invocation[kDns];
}

std::string_view verify_name(const std::optional<verify::Level>& level) {
  if (!level) return "none";
  return *level == verify::Level::Full ? "full" : "signature";
}

std::string verify_text(const std::optional<verify::Level>& level) {
  if (!level) return "not verified: signatures are not checked";
  return *level == verify::Level::Full ? "verifying signatures and operations"
                                       : "verifying signatures alone";
}

}  // namespace skua::cli
