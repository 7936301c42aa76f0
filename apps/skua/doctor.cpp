#include "doctor.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "database_choice.hpp"
#include "doctor/examination.hpp"
#include "doctor/report.hpp"
#include "pages_origin.hpp"
#include "progress.hpp"
#include "relay_address.hpp"
#include "running_settings.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The longest time until a host answers.
constexpr std::chrono::seconds kHostLimit{10};

bool names_a_source_on_the_command_line(const SourceFlags& flags) {
  return !flags.relays.empty() || flags.tap || flags.jetstream || !flags.labelers.empty();
}

bool names_a_source(const Settings& settings, const SourceFlags& flags) {
  if (names_a_source_on_the_command_line(flags)) return true;
  for (const Setting* setting : {&kRelay, &kTap, &kJetstream, &kLabeler}) {
    if (settings.find(*setting, std::nullopt)) return true;
  }
  return false;
}

std::vector<doctor::NetworkTarget> targets_of(const Settings& settings, const DoctorFlags& flags) {
  using doctor::NetworkTarget;
  std::vector<NetworkTarget> targets;
  if (names_a_source(settings, flags.source)) {
    for (const auto& [source, cursor] : source_choice(settings, flags.source)) {
      NetworkTarget target{.kind = NetworkTarget::Kind::Source,
                           .group = source->has_standbys() ? std::string(source->kind()) : "",
                           .check = source->name()};
      // A Tap would send events to the second client too, which does not acknowledge them.
      const bool is_exclusive = source->is_acknowledged();
      target.url = http_origin(source->endpoint()) + (is_exclusive ? "/health" : "/xrpc/_health");
      if (!is_exclusive) target.stream = source->endpoint();
      targets.push_back(std::move(target));
    }
  }
  // Keys are not needed without verification.
  if (verify_level(settings, flags.verification)) {
    std::string plc = plc_url(settings, flags.verification.plc);
    plc.erase(plc.find_last_not_of('/') + 1);
    targets.push_back(
        {.kind = NetworkTarget::Kind::Plc, .check = "PLC directory", .url = plc + "/_health"});
  }
  return targets;
}

/// Whether a session of the process is connected to the database; nothing: it does not answer.
std::optional<bool> uses_database(const std::string& url, const std::string& process) {
  try {
    store::Session session(url, store::process_name("skua doctor"));
    store::Params params;
    params.text(process);
    return session
        .execute({"doctor_process",
                  "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "
                  "AND right(application_name, length($1::text)) = $1::text)"},
                 params)
        .boolean(0, 0);
  } catch (const store::SqlError&) {
    return std::nullopt;
  }
}

/// The settings of a running process, as if they were flags of this command. Its own flags stay.
void add_flags(DoctorFlags& flags, const RunningSettings& running) {
  const auto add = [](std::optional<std::string>& flag, const std::string& value) {
    if (!flag && !value.empty()) flag = value;
  };
  if (!names_a_source_on_the_command_line(flags.source)) {
    for (const auto& [kind, url] : running.sources) {
      if (kind == "relay") flags.source.relays.push_back(url);
      if (kind == "tap") add(flags.source.tap, url);
      if (kind == "jetstream") add(flags.source.jetstream, url);
      if (kind == "labeler") flags.source.labelers.push_back(url);
    }
  }
  add(flags.verification.verify, running.verify);
  add(flags.verification.plc, running.plc);
  // The process may run on another machine.
  if (std::filesystem::exists(running.ca_file)) add(flags.verification.ca_file, running.ca_file);
  flags.allow_unsafe_database = flags.allow_unsafe_database || running.allow_unsafe_database;
}

/// Asks a running process for its settings, and adds them to the flags if it uses the database.
doctor::SettingsFound running_settings(const Settings& settings, DoctorFlags& flags,
                                       const std::optional<std::string>& database) {
  doctor::SettingsFound found;
  const auto pages = settings.find(kHttp, flags.http).value_or(Found{kDefaultPages, kHttp.flag});
  if (pages.value == "off") return found;
  found.origin = pages_origin(pages);
  const auto running =
      ask_running_settings(found.origin, ca_file(settings, flags.verification.ca_file));
  if (!running) {
    found.failure = running.error();
    return found;
  }
  if (database) found.uses_database = uses_database(*database, running->process);
  if (found.uses_database.value_or(true)) add_flags(flags, *running);
  return found;
}

/// What is examined, as flags.
std::string examined_text(const Settings& settings, const DoctorFlags& flags) {
  std::string text;
  const auto add = [&](std::string_view flag, std::string_view value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag, value);
  };
  if (names_a_source(settings, flags.source)) {
    for (const auto& [source, cursor] : source_choice(settings, flags.source)) {
      add(fmt::format("--{}", source->kind()), source->url());
    }
  }
  const auto level = verify_level(settings, flags.verification);
  add("--verify", verify_name(level));
  if (level) add("--plc", plc_url(settings, flags.verification.plc));
  return text;
}

}  // namespace

int doctor(const Settings& settings, const DoctorFlags& given) {
  DoctorFlags flags = given;
  doctor::Examination examination;
  const auto database = find_database(settings, flags.database);
  examination.settings = running_settings(settings, flags, database);
  examination.settings.examined = examined_text(settings, flags);
  if (database) {
    examination.database = doctor::DatabaseOptions{
        .url = *database,
        .needs = app::server_needs(durability(settings, flags.allow_unsafe_database))};
  }
  examination.targets = targets_of(settings, flags);
  examination.http.ca_file = ca_file(settings, flags.verification.ca_file);
  examination.http.connect_timeout = kHostLimit / 2;
  examination.http.total_timeout = kHostLimit;
  const auto findings = doctor::examine(examination, system_clock());
  fmt::print(
      "{}", flags.json ? doctor::report_json(findings) : doctor::report_text(findings, is_quiet()));
  return doctor::is_healthy(findings, flags.strict) ? kSuccess : kFailure;
}

}  // namespace skua::cli
