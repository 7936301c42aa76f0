#include "consumers/projections/projection.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumer_databases.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/own/network_tables.hpp"
#include "consumers/own/own_projection.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/own/projection_check.hpp"
#include "database.hpp"
#include "option.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

const Option<std::string> kProjectionFile({.name = "FILE",
                                           .meaning = "The file of a projection, at most 256 kB"});
const Option<std::string> kProjectionName({.name = "NAME",
                                           .meaning = "The name of a projection",
                                           .known_values = projection_names});
const Option<std::int32_t> kSampleRecords(
    {.name = "--records",
     .type = "NUMBER",
     .meaning = "Try this number of records of each collection",
     .default_value = "10000"},
    number_in<std::int32_t>(1, 1'000'000));
const Option<std::chrono::seconds> kFillTimeout({.name = "--timeout",
                                                 .type = "DURATION",
                                                 .meaning = "The maximum time of one fill",
                                                 .default_value = "60s"},
                                                duration_in(std::chrono::seconds(1),
                                                            std::chrono::hours(24)));

const Option<bool> kPlans({.name = "--plan", .meaning = "Print the plans of the statements, too"});

/// Reads the projection of a file. Reads one byte more than the limit, so that a longer file is
/// refused.
consumers::Projection projection_in(const std::string& file) {
  require_file("FILE", file);
  std::ifstream in(file, std::ios::binary);
  std::string text(consumers::kLargestOwnFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw UsageError(file + ": cannot be read");
  try {
    return consumers::read_own_projection(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

/// Runs an action, and prints the reason if it is refused. Returns the exit code.
template <class Action>
int attempt_projection(const char* command, Action action) {
  try {
    return action();
  } catch (const consumers::ConsumerError& error) {
    command_line::print_stderr("skua projection {}: {}\n", command, error.what());
  } catch (const std::invalid_argument& error) {
    command_line::print_stderr("skua projection {}: {}\n", command, error.what());
  }
  return kFailure;
}

/// Runs an action with a database, and states the node in the reason of a refusal.
template <class Action>
auto in_database(ConsumerDatabase& database, Action action) {
  try {
    return action(database.session);
  } catch (const consumers::ConsumerError& error) {
    throw consumers::ConsumerError(database.prefix() + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(database.prefix() + error.what());
  }
}

void print_change(const consumers::Projection& projection, consumers::ProjectionChange change) {
  switch (change) {
    case consumers::ProjectionChange::Added:
      fmt::print("added {0}: `skua consumers add {0}` builds its tables\n", projection.name);
      break;
    case consumers::ProjectionChange::Replaced:
      fmt::print("{} has version {}: `skua run` builds the tables of its consumer again\n",
                 projection.name, projection.version);
      break;
    case consumers::ProjectionChange::Unchanged:
      fmt::print("{}: nothing changed\n", projection.name);
      break;
  }
}

int projection_add(const Invocation& invocation) {
  const consumers::Projection projection = projection_in(invocation[kProjectionFile]);
  return attempt_projection("add", [&] {
    auto databases = open_consumers(invocation, Access::Write);
    auto change = consumers::ProjectionChange::Unchanged;
    for (ConsumerDatabase& database : databases) {
      // Added is the smallest value and Unchanged the largest one.
      change = std::min(change, in_database(database, [&](postgres::Session& session) {
                          return consumers::add_projection(session, projection);
                        }));
    }
    if (!are_nodes(databases)) {
      print_change(projection, change);
      return kSuccess;
    }
    postgres::Session session = open_database_to_read(invocation, "skua projection");
    const auto joined = consumers::join_projection(session, projection);
    print_change(projection, std::min(change, joined.change));
    for (const std::string& table : joined.hidden) {
      fmt::print(
          "the query database does not show {}: write `-- nodes: rows` or `-- nodes: sums` below "
          "the table, if its rows follow so from those of the nodes\n",
          table);
    }
    return kSuccess;
  });
}

void print_dry_run(const consumers::Projection& projection, const consumers::DryRun& run,
                   bool has_plans) {
  fmt::print("{} version {}\n", projection.name, projection.version);
  if (run.records) fmt::print("  sample   {}\n", counted(*run.records, "record"));
  for (const auto& step : run.steps) {
    std::string text = fmt::format("  {:<8} {} ms", step.name, step.time.count());
    if (step.cost > 0) text += fmt::format(", plan cost {:.0f}", step.cost);
    if (step.name == "fold" && run.changes) text += ", " + counted(*run.changes, "change");
    fmt::print("{}\n", text);
    for (const std::string& line : step.plan) {
      if (has_plans) fmt::print("    {}\n", printable(line, 300));
    }
  }
  for (const auto& table : run.tables) {
    fmt::print("  {}: {}\n", table.name, counted(table.rows, "row"));
  }
  for (const std::string& difference : run.differences) fmt::print("{}\n", difference);
}

int projection_check(const Invocation& invocation) {
  const consumers::Projection projection = projection_in(invocation[kProjectionFile]);
  const consumers::DryRunOptions options{.records = invocation[kSampleRecords],
                                         .timeout = invocation[kFillTimeout]};
  return attempt_projection("check", [&] {
    postgres::Session session = open_database(invocation, "skua projection");
    const consumers::DryRun run = consumers::try_projection(session, projection, options);
    print_dry_run(projection, run, invocation[kPlans]);
    if (!run.differences.empty()) {
      command_line::print_stderr(
          "skua projection check: the tables differ from a second fill: the rows of a record must "
          "follow from this record alone, and sums must be counts or sums of whole numbers\n");
      return kFailure;
    }
    if (run.records) {
      fmt::print("the fold equals the fill\n");
    } else {
      fmt::print(
          "the fold has run; compare its result after the build: `skua consumers verify {}`\n",
          projection.name);
    }
    return kSuccess;
  });
}

int projection_list(const Invocation& invocation) {
  postgres::Session session = open_database_to_read(invocation, "skua projection");
  std::map<std::string, std::string> consumers_of;
  for (ConsumerDatabase& database : open_consumers(invocation, Access::Read)) {
    for (const consumers::Consumer& consumer : consumers::read_consumers(database.session)) {
      if (consumer.kind != "projection") continue;
      std::string& text = consumers_of[consumer.name];
      text +=
          fmt::format("{}{}version {} {}", text.empty() ? "" : ", ", database.prefix(),
                      consumer.version, consumer.role == "live" ? consumer.state : "being built");
    }
  }
  nlohmann::json all = nlohmann::json::array();
  const auto add = [&](const std::string& name, std::int32_t version, const std::string& help,
                       bool is_own) {
    const auto used = consumers_of.find(name);
    all.push_back({{"name", name},
                   {"version", version},
                   {"help", help},
                   {"is_built_in", !is_own},
                   {"consumers", used == consumers_of.end() ? "" : used->second}});
  };
  for (const consumers::Projection& one : consumers::projections()) {
    add(one.name, one.version, one.help, false);
  }
  const auto stored = consumers::read_stored_projections(session);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool is_newest = i + 1 == stored.size() || stored[i + 1].name != stored[i].name;
    if (is_newest) add(stored[i].name, stored[i].version, stored[i].help, true);
  }
  if (invocation[kJson]) {
    fmt::print("{}\n", all.dump(2));
    return kSuccess;
  }
  for (const nlohmann::json& one : all) {
    const auto used = one["consumers"].get<std::string>();
    fmt::print("{:<16} {:<9} version {}, {}\n  {}\n", one["name"].get<std::string>(),
               one["is_built_in"].get<bool>() ? "built in" : "added",
               one["version"].get<std::int32_t>(), used.empty() ? "no consumer" : used,
               printable(one["help"].get<std::string>(), 200));
  }
  return kSuccess;
}

int projection_show(const Invocation& invocation) {
  const std::string name = invocation[kProjectionName];
  std::optional<consumers::StoredProjection> newest;
  for (ConsumerDatabase& database : open_consumers(invocation, Access::Read)) {
    for (consumers::StoredProjection& one : consumers::read_stored_projections(database.session)) {
      if (one.name != name) continue;
      fmt::print("-- {}version {}, SHA-256 {}, added {}; consumers: {}\n", database.prefix(),
                 one.version, one.sha256, format_datetime(one.added_at),
                 one.used_by.empty() ? "none" : one.used_by);
      if (!newest || newest->version <= one.version) newest = std::move(one);
    }
  }
  if (newest) {
    fmt::print("{}", newest->text);
    return kSuccess;
  }
  const std::string_view text = consumers::built_in_text(name);
  if (text.empty()) {
    throw UsageError(
        fmt::format("there is no projection '{}': `skua projection list` shows all", name));
  }
  fmt::print("-- Built in.\n{}", text);
  return kSuccess;
}

int projection_remove(const Invocation& invocation) {
  const std::string name = invocation[kProjectionName];
  return attempt_projection("remove", [&] {
    auto databases = open_consumers(invocation, Access::Write);
    const bool of_nodes = are_nodes(databases);
    // An interrupted removal is repeated, so some nodes may not have the projection.
    std::erase_if(databases, [&](ConsumerDatabase& database) {
      return of_nodes && !consumers::is_stored(database.session, name);
    });
    for (ConsumerDatabase& database : databases) {
      in_database(database,
                  [&](auto& session) { consumers::require_removable_projection(session, name); });
    }
    if (of_nodes) {
      postgres::Session session = open_database_to_read(invocation, "skua projection");
      if (databases.empty()) consumers::require_removable_projection(session, name);
      // The views of the query database read those of the nodes, so they are dropped first.
      consumers::part_projection(session, name);
    }
    for (ConsumerDatabase& database : databases) {
      in_database(database, [&](auto& session) { consumers::remove_projection(session, name); });
    }
    fmt::print("removed {}\n", name);
    return kSuccess;
  });
}

}  // namespace

CommandSpecs projection_commands() {
  return {{"projection", "Add projections of your own: tables that follow from records"},
          {"projection add",
           "Store the file of a projection, or its next version",
           {kDatabase, required(kProjectionFile)},
           projection_add},
          {"projection check",
           "Try the file of a projection on some records, and change nothing",
           {kDatabase, required(kProjectionFile), kSampleRecords, kFillTimeout, kPlans},
           projection_check},
          {"projection list",
           "List the built-in projections and those that were added",
           {kDatabase, kJson},
           projection_list},
          {"projection show",
           "Print the file of a projection, and the consumers that use it",
           {kDatabase, required(kProjectionName)},
           projection_show},
          {"projection remove",
           "Remove a projection that no consumer uses",
           {kDatabase, required(kProjectionName)},
           projection_remove}};
}

}  // namespace skua::cli
