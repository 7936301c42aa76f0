#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/locks.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/reports.hpp"
#include "tables/source_table.hpp"

namespace skua::cli {
namespace {

const Option<std::string> kSourceName({.name = "NAME",
                                       .meaning = "The name of a source, see `skua source list`"});

int source_list(const Invocation& invocation) {
  postgres::Session session = open_state_to_read(invocation, "skua source");
  nlohmann::json sources = status::read_source_list(session);
  if (invocation[kJson]) {
    // The metrics are removed, because only `skua status` prints them.
    for (nlohmann::json& source : sources) {
      source.erase("metrics");
      source.erase("metrics_age_seconds");
    }
    fmt::print("{}\n", sources.dump(2));
  } else if (sources.empty()) {
    fmt::print("no source has been read into this database yet: `skua run` does that\n");
  } else {
    fmt::print("{}", status::source_list_text(sources));
  }
  return kSuccess;
}

int source_forget(const Invocation& invocation) {
  const std::string name = invocation[kSourceName];
  postgres::Session session = open_database(invocation, "skua source");
  tables::ForgottenSource forgotten;
  try {
    forgotten = tables::forget_source(session, name);
  } catch (const postgres::SourceBusy& busy) {
    command_line::print_stderr("skua source forget: {}: stop it first\n", busy.what());
    return kFailure;
  }
  if (!forgotten.is_known) {
    fmt::print(
        stderr,
        "skua source forget: the database has no source '{}'; `skua source list` shows all\n",
        name);
    return kFailure;
  }
  fmt::print("forgot {}: cursor {}, {}; its rows stay\n", name,
             forgotten.cursor ? std::to_string(*forgotten.cursor) : "-",
             counted(forgotten.tombstones, "tombstone"));
  if (forgotten.tombstones_kept > 0) {
    fmt::print(
        "{} kept until the running backfill of their accounts has ended: repeat this command "
        "then\n",
        counted(forgotten.tombstones_kept, "tombstone"));
  }
  return kSuccess;
}

}  // namespace

CommandSpecs source_commands() {
  return {{"source", "List and remove the sources of a database"},
          {"source list",
           "List the sources with cursor, time and lag",
           {kDatabase, kJson},
           source_list},
          {"source forget",
           "Delete the saved cursor, metrics and tombstones of a source",
           {kDatabase, required(kSourceName)},
           source_forget}};
}

}  // namespace skua::cli
