#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "app/database.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "doctor/examination.hpp"
#include "doctor/finding.hpp"
#include "indexer_options.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "run_pages.hpp"
#include "settings.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

/// The maximum time until a host answers.
constexpr std::chrono::seconds kHostLimit{10};

const Option<bool> kStrict({.name = "--strict",
                            .meaning = "Exit with 1 also if there is a warning"});

std::vector<doctor::NetworkTarget> targets_of(const Invocation& invocation) {
  using doctor::NetworkTarget;
  std::vector<NetworkTarget> targets;
  if (has_sources(invocation)) {
    for (const auto& [source, cursor] : source_choice(invocation)) {
      NetworkTarget target{.kind = NetworkTarget::Kind::Source,
                           .group = source->has_standbys() ? std::string(source->kind()) : "",
                           .check = source->name()};
      // A second client of a Tap would receive events but not acknowledge them, so no websocket is
      // opened to a Tap.
      const bool is_exclusive = source->is_acknowledged();
      target.url = http_origin(source->endpoint()) + (is_exclusive ? "/health" : "/xrpc/_health");
      if (!is_exclusive) target.stream = source->endpoint();
      targets.push_back(std::move(target));
    }
  }
  // Without verification no keys are needed, so the PLC directory is not checked.
  if (invocation[kVerify]) {
    std::string plc = invocation[kPlc];
    plc.erase(plc.find_last_not_of('/') + 1);
    targets.push_back(
        {.kind = NetworkTarget::Kind::Plc, .check = "PLC directory", .url = plc + "/_health"});
  }
  return targets;
}

/// Returns whether a session of the process is connected to the database; nothing if the database
/// does not answer.
std::optional<bool> uses_database(const std::string& url, const std::string& process) {
  try {
    postgres::Session session(url, postgres::process_name("skua doctor"));
    postgres::Params params;
    params.text(process);
    return session
        .execute({"doctor_process",
                  "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "
                  "AND right(application_name, length($1::text)) = $1::text)"},
                 params)
        .boolean(0, 0);
  } catch (const postgres::SqlError&) {
    return std::nullopt;
  }
}

/// Returns false also if the database does not answer. The checks of the database say why.
bool names_query_database(const std::string& url) {
  try {
    postgres::Session session(url, postgres::process_name("skua doctor"));
    return postgres::is_query_database(session);
  } catch (const postgres::SqlError&) {
    return false;
  }
}

/// Adds the settings of a running process to the invocation, as if they were flags. The command's
/// own flags stay unchanged.
void take_over(Invocation& invocation, const RunningSettings& running) {
  const auto give = [&](const OptionText& option, std::vector<std::string> values) {
    if (!invocation.is_given(option)) invocation.give(option, std::move(values));
  };
  if (!names_sources(invocation)) {
    std::map<std::string, std::vector<std::string>, std::less<>> urls;
    for (const auto& [kind, url] : running.sources) urls[kind].push_back(url);
    for (const SourceKind& kind : source_kinds()) {
      const auto found = urls.find(kind.name());
      give(*kind.setting, found == urls.end() ? std::vector<std::string>() : found->second);
    }
  }
  if (!running.verify.empty()) give(kVerify, {running.verify});
  if (!running.plc.empty()) give(kPlc, {running.plc});
  // The process may run on another machine, so the file is used only if it exists here.
  if (std::filesystem::exists(running.ca_file)) give(kCaFile, {running.ca_file});
  if (running.allow_unsafe_database) give(kAllowUnsafeDatabase, {"true"});
}

/// Asks a running process for its settings, and takes them over if it uses the database.
doctor::SettingsFound running_settings(Invocation& invocation,
                                       const std::optional<std::string>& database) {
  doctor::SettingsFound found;
  const auto pages = invocation[kHttp].value_or(SettingValue{kDefaultPages, kHttp.name});
  if (pages.value == "off") return found;
  found.origin = pages_origin(pages);
  const auto running = ask_running_settings(found.origin, invocation[kCaFile]);
  if (!running) {
    found.failure = running.error();
    return found;
  }
  if (database) found.uses_database = uses_database(*database, running->process);
  if (found.uses_database.value_or(true)) take_over(invocation, *running);
  return found;
}

/// Returns the examined settings in the form of flags.
std::string examined_text(const Invocation& invocation) {
  std::string text;
  const auto add = [&](std::string_view flag, std::string_view value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag, value);
  };
  if (has_sources(invocation)) {
    for (const auto& [source, cursor] : source_choice(invocation)) {
      add(fmt::format("--{}", source->kind()), source->url());
    }
  }
  const auto level = invocation[kVerify];
  add("--verify", verify_name(level));
  if (level) add("--plc", invocation[kPlc]);
  return text;
}

int run_doctor(const Invocation& given) {
  Invocation invocation = given;
  doctor::Examination examination;
  const auto database = invocation[kDatabase];
  // Wrong settings are refused before anything connects to the database.
  targets_of(invocation);
  examination.is_query_database = database && names_query_database(*database);
  // A process that runs here reads sources for the database of a node.
  if (!examination.is_query_database) {
    examination.settings = running_settings(invocation, database);
    examination.targets = targets_of(invocation);
  }
  examination.settings.examined = examined_text(invocation);
  if (database) {
    examination.database = doctor::DatabaseOptions{
        .url = *database, .needs = app::server_needs(durability(invocation))};
  }
  examination.http.ca_file = invocation[kCaFile];
  examination.http.connect_timeout = kHostLimit / 2;
  examination.http.total_timeout = kHostLimit;
  const auto findings = doctor::examine(examination, system_clock());
  fmt::print("{}", invocation[kJson] ? doctor::report_json(findings)
                                     : doctor::report_text(findings, is_quiet()));
  return doctor::is_healthy(findings, invocation[kStrict]) ? kSuccess : kFailure;
}

}  // namespace

CommandSpecs doctor_commands() {
  const OptionUse http{
      kHttp,
      {.type = "ADDRESS|URL|off",
       .meaning = "Pages of the running skua run whose settings count; off: do not ask it",
       .default_text = kDefaultPages}};
  return {{"doctor",
           "Check the database, the network and the clocks, and print what to do",
           {kDatabase, kAllowUnsafeDatabase, kRelay, kTap, kTapPasswordFile, kJetstream, kLabeler,
            kVerify, kPlc, kCaFile, http, kStrict, kJson},
           run_doctor}};
}

}  // namespace skua::cli
