#include "doctor.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "database_choice.hpp"
#include "doctor/examination.hpp"
#include "doctor/report.hpp"
#include "progress.hpp"
#include "relay_address.hpp"

namespace skua::cli {
namespace {

/// The longest time until a host answers.
constexpr std::chrono::seconds kHostLimit{10};

bool names_a_source(const Settings& settings, const SourceFlags& flags) {
  const bool is_on_the_command_line =
      !flags.relays.empty() || flags.tap || flags.jetstream || !flags.labelers.empty();
  if (is_on_the_command_line) return true;
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

}  // namespace

int doctor(const Settings& settings, const DoctorFlags& flags) {
  doctor::Examination examination;
  if (auto database = find_database(settings, flags.database)) {
    examination.database = doctor::DatabaseOptions{
        .url = std::move(*database),
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
