#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounts.hpp"
#include "base/text.hpp"
#include "command_line/display_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "indexer_options.hpp"
#include "settings.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"

namespace skua::cli {
namespace {

const Option<Texts> kTapFiles({.name = "--file",
                               .type = "FILE",
                               .meaning = "Files of accounts, one per line",
                               .takes_several = true});

/// The admin routes of a Tap (github.com/bluesky-social/indigo, cmd/tap). Each function waits for
/// the answer, and throws std::runtime_error with a message for the user if the answer is an error.
class TapAdmin {
 public:
  explicit TapAdmin(const Invocation& invocation) : TapAdmin(tap_address(invocation), invocation) {}

  /// Makes Tap follow these accounts, or stop following them, in requests of 1,000 accounts. `path`
  /// is "/repos/add" or "/repos/remove".
  void change(const char* path, std::span<const std::string> dids) {
    constexpr std::size_t kDidsAtOnce = 1'000;
    for (std::size_t done = 0; done < dids.size();) {
      const auto some = dids.subspan(done, std::min(kDidsAtOnce, dids.size() - done));
      const nlohmann::json body = {{"dids", std::vector<std::string>(some.begin(), some.end())}};
      const auto answer = ask(path, body.dump());
      if (answer.status / 100 != 2) {
        throw std::runtime_error(fmt::format("{}{} answered {} after {} of {}: {}", origin_, path,
                                             answer.status, done, counted(dids.size(), "account"),
                                             answer.body));
      }
      done += some.size();
    }
  }

  /// Returns the state of an account in Tap; nothing if Tap does not follow the account.
  std::optional<nlohmann::ordered_json> info(const std::string& did) {
    const std::string path = "/info/" + did;
    const auto answer = ask(path, std::nullopt);
    if (answer.status == 404) return std::nullopt;
    return read(path, answer);
  }

  /// Returns all values of /stats by name.
  nlohmann::ordered_json stats() {
    nlohmann::ordered_json all;
    for (const char* name :
         {"repo-count", "record-count", "outbox-buffer", "resync-buffer", "cursors"}) {
      const std::string path = std::string("/stats/") + name;
      all.update(read(path, ask(path, std::nullopt)));
    }
    return all;
  }

 private:
  TapAdmin(TapAddress tap, const Invocation& invocation)
      : origin_(http_origin(std::move(tap.endpoint))),
        password_(std::move(tap.password)),
        client_(with_ca_file(invocation[kCaFile])) {}

  static transport::HttpClientOptions with_ca_file(std::string ca_file) {
    transport::HttpClientOptions options;
    options.ca_file = std::move(ca_file);
    return options;
  }

  transport::HttpAnswer ask(const std::string& path, std::optional<std::string> json) {
    transport::HttpRequest request;
    request.url = origin_ + path;
    request.origin = transport::HostOrigin::configured;
    request.json = std::move(json);
    if (!password_.empty()) {
      request.headers.push_back(
          {"Authorization", transport::basic_authorization("admin", password_)});
    }
    auto answer = client_.send(std::move(request));
    if (!answer) {
      throw std::runtime_error(
          fmt::format("{}: {} (does Tap run there?)", origin_, answer.error().message()));
    }
    if (answer->status == 401) {
      throw std::runtime_error(fmt::format(
          "{} wants its admin password: --tap-password-file names a file with the right one",
          origin_));
    }
    return *std::move(answer);
  }

  nlohmann::ordered_json read(const std::string& path, const transport::HttpAnswer& answer) {
    auto json = nlohmann::ordered_json::parse(answer.body, nullptr, false);
    if (answer.status != 200 || !json.is_object()) {
      throw std::runtime_error(fmt::format("{}{} answered {}: {} (is that a Tap?)", origin_, path,
                                           answer.status, answer.body.substr(0, 200)));
    }
    return json;
  }

  const std::string origin_;
  const std::string password_;
  transport::HttpClient client_;
};

/// Adds numbers with their names to a table, one per line.
void add_lines(const nlohmann::ordered_json& object, command_line::Table& table) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      add_lines(value, table);
    } else {
      table.add({name, value.is_string() ? value.get<std::string>() : value.dump()});
    }
  }
}

void print_lines(const nlohmann::ordered_json& object) {
  command_line::Table table({{}, {}});
  add_lines(object, table);
  fmt::print("{}", table.text());
}

void print(const nlohmann::ordered_json& object, bool json) {
  if (json) {
    fmt::print("{}\n", object.dump(2));
  } else {
    print_lines(object);
  }
}

int tap_change(const Invocation& invocation, bool is_add) {
  TapAdmin admin(invocation);
  const AccountChoice accounts =
      account_choice(invocation, invocation[kWho], invocation[kTapFiles]);
  if (accounts.names.empty()) throw UsageError("name accounts, or files of them with --file");
  std::size_t problems = 0;
  const std::vector<std::string> dids = look_up(accounts, problems);
  admin.change(is_add ? "/repos/add" : "/repos/remove", dids);
  fmt::print("{} {}\n", counted(dids.size(), "account"), is_add ? "added" : "removed");
  return problems == 0 ? kSuccess : kFailure;
}

int tap_info(const Invocation& invocation) {
  TapAdmin admin(invocation);
  const AccountChoice accounts =
      account_choice(invocation, invocation[kWho], invocation[kTapFiles]);
  std::size_t problems = 0;
  for (const std::string& did : look_up(accounts, problems)) {
    if (const auto info = admin.info(did)) {
      print(*info, invocation[kJson]);
    } else {
      command_line::print_stderr("skua: {}: Tap does not follow this account\n", did);
      ++problems;
    }
  }
  return problems == 0 ? kSuccess : kFailure;
}

int tap_stats(const Invocation& invocation) {
  print(TapAdmin(invocation).stats(), invocation[kJson]);
  return kSuccess;
}

}  // namespace

CommandSpecs tap_commands() {
  return {
      {"tap", "Administer a Tap: its accounts and its state"},
      {"tap add",
       "Tell Tap to follow accounts, including their existing records",
       {kTap, kTapPasswordFile, kWho, kTapFiles, kDns, kPlc, kCaFile, kAllowPrivateHosts},
       [](const Invocation& invocation) { return tap_change(invocation, true); }},
      {"tap remove",
       "Tell Tap to stop following accounts",
       {kTap, kTapPasswordFile, kWho, kTapFiles, kDns, kPlc, kCaFile, kAllowPrivateHosts},
       [](const Invocation& invocation) { return tap_change(invocation, false); }},
      {"tap info",
       "Print Tap's state of accounts",
       {kTap, kTapPasswordFile, kWho, kTapFiles, kDns, kPlc, kCaFile, kAllowPrivateHosts, kJson},
       tap_info},
      {"tap stats", "Print Tap's metrics", {kTap, kTapPasswordFile, kJson}, tap_stats}};
}

}  // namespace skua::cli
