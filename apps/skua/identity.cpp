#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounts.hpp"
#include "accounts/network_accounts.hpp"
#include "app/database.hpp"
#include "atproto/account_name.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "identity/did_document.hpp"
#include "identity/handle_check.hpp"
#include "identity/txt_lookup.hpp"
#include "settings.hpp"
#include "store/process_name.hpp"

namespace skua::cli {
namespace {

const Option<std::string> kAccountName({.name = "WHO", .meaning = kWho.meaning});
const Option<bool> kRefresh(
    {.name = "--refresh", .meaning = "Ask the directory even if the database has a recent answer"});

/// The displayed data of an account.
struct Shown {
  identity::Account account;
  std::string source;
  bool handle_verified = false;
  /// Why the handle is not verified; empty if it is, or if there is none.
  std::string handle_problem;
};

std::string handle_text(const Shown& shown) {
  if (shown.account.handle.empty()) return "none";
  if (shown.handle_verified) return shown.account.handle + " (verified both ways)";
  return fmt::format("{} (not verified: {})", shown.account.handle, shown.handle_problem);
}

std::string text_or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

nlohmann::ordered_json json_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

void print(const Shown& shown, bool json) {
  const auto& account = shown.account;
  const std::string key = account.key ? account.key->to_did_key() : "";
  const std::string label_key = account.label_key ? account.label_key->to_did_key() : "";
  const auto fetched = format_datetime(account.fetched_at);
  if (!json) {
    fmt::print("did          {}\nhandle       {}\nsigning key  {}\npds          {}\n", account.did,
               handle_text(shown), text_or_none(key), text_or_none(account.pds));
    if (!label_key.empty()) fmt::print("label key    {}\n", label_key);
    fmt::print("from         {}, {}\n", shown.source, fetched);
    return;
  }
  const nlohmann::ordered_json object = {{"did", account.did},
                                         {"handle", json_or_null(account.handle)},
                                         {"handle_verified", shown.handle_verified},
                                         {"handle_problem", json_or_null(shown.handle_problem)},
                                         {"signing_key", json_or_null(key)},
                                         {"pds", json_or_null(account.pds)},
                                         {"label_key", json_or_null(label_key)},
                                         {"source", shown.source},
                                         {"fetched_at", fetched}};
  fmt::print("{}\n", object.dump(2));
}

void check_handle(const identity::HandleCheck& check, Shown& shown) {
  const auto& account = shown.account;
  if (account.handle.empty()) return;
  const auto verified = check.verify(account.did, account.handle);
  shown.handle_verified = verified.has_value();
  if (!verified) shown.handle_problem = verified.error().message();
}

Result<identity::Account> find(accounts::NetworkAccounts& accounts, const std::string& did,
                               bool refresh) {
  using Freshness = accounts::AccountSource::Freshness;
  // Shared: the other thread may still use it after this one has the answer.
  const auto promise = std::make_shared<std::promise<Result<identity::Account>>>();
  auto answer = promise->get_future();
  accounts.identity_once(
      did, refresh ? Freshness::Recent : Freshness::Known,
      [promise](Result<identity::Account> found) { promise->set_value(std::move(found)); });
  return answer.get();
}

int print_identity(const Invocation& invocation) {
  const std::string name = invocation[kAccountName];
  if (name.empty()) throw UsageError(fmt::format("WHO is required: {}", kWho.meaning));
  const auto who = atproto::parse_account_name(name);
  if (!who) throw UsageError(fmt::format("WHO: '{}' is {}", name, who.error().message()));
  auto network = network_accounts(invocation);
  transport::HttpClientOptions http_options;
  http_options.allow_private_hosts = network.allow_private_hosts;
  http_options.ca_file = network.ca_file;
  network.connect_timeout = http_options.connect_timeout;
  network.total_timeout = http_options.total_timeout;
  const auto dns = invocation[kDns];
  if (const auto database = invocation[kDatabase]) {
    app::check_database(*database);
    network.database_url = *database;
    network.application_name = store::process_name("skua identity");
  }

  transport::HttpClient http(http_options);
  accounts::NetworkAccounts accounts(network, system_clock());
  const identity::HandleCheck check(http, identity::dns_txt_lookup(dns));

  auto did = *who;
  if (!did.starts_with("did:")) {
    const auto found = check.resolve(did);
    if (!found) {
      command_line::print_stderr("skua identity: {}: {}\n", did, found.error().message());
      return kFailure;
    }
    did = *found;
  }
  const auto answer = find(accounts, did, invocation[kRefresh]);
  if (!answer) {
    command_line::print_stderr("skua identity: {}: {}\n", did,
                               accounts.failure_text(did, answer.error()));
    return kFailure;
  }
  Shown shown;
  shown.account = *answer;
  shown.source =
      accounts.statistics().from_table > 0
          ? "skua.identities"
          : identity::document_url(did, {.plc_url = network.plc_url,
                                         .allow_private_hosts = network.allow_private_hosts})
                .value();
  // A downloaded document is written before the stop ends.
  accounts.stop();
  check_handle(check, shown);
  print(shown, invocation[kJson]);
  return kSuccess;
}

}  // namespace

CommandSpecs identity_commands() {
  return {{"identity",
           "Print signing key, host and handle of an account",
           {kAccountName, kPlc, kDatabase, kCaFile, kDns, kAllowPrivateHosts, kRefresh, kJson},
           print_identity}};
}

}  // namespace skua::cli
