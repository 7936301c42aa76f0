#include "doctor/examination.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "doctor/server.hpp"

namespace skua::doctor {
namespace {

bool has_source(const std::vector<NetworkTarget>& targets) {
  return std::ranges::any_of(targets, [](const NetworkTarget& target) {
    return target.kind == NetworkTarget::Kind::Source;
  });
}

void append(Findings& all, Findings more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

Findings examine(const Examination& examination, const Clock& clock) {
  std::optional<DatabaseChecks> database;
  if (examination.database) database.emplace(*examination.database, clock);
  const auto answers = ask_network(examination.targets, examination.http, clock);

  ClocksFound clocks;
  std::optional<std::string> reader;
  for (const NetworkAnswer& answer : answers) {
    if (answer.clock_ahead) clocks.hosts_ahead.push_back(*answer.clock_ahead);
  }
  Findings findings;
  if (database) {
    DatabaseFindings found = database->finish();
    clocks.server_ahead = found.server_ahead;
    reader = std::move(found.source_reader);
    append(findings, std::move(found.findings));
  } else {
    findings.push_back(error("database", problem("not-configured"), "no database is named",
                             "Give --database URL, or set SKUA_DATABASE_URL."));
  }
  if (examination.is_query_database) {
    append(findings, judge_clocks(clocks));
    findings.push_back(skipped("sources", "a query database reads no source",
                               "Run `skua doctor` with the database of each node, too."));
    return findings;
  }
  findings.push_back(judge_settings(examination.settings, reader));
  if (!has_source(examination.targets)) {
    findings.push_back(warning("sources", problem("not-configured"), "no source is named",
                               "Give --relay URL, or set SKUA_RELAY."));
  }
  append(findings, judge_network(examination.targets, answers));
  append(findings, judge_clocks(clocks));
  return findings;
}

}  // namespace skua::doctor
