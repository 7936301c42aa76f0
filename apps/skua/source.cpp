#include "source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "status/source_list.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"
#include "store/source_lock.hpp"
#include "store/source_table.hpp"

namespace skua::cli {
namespace {

store::Session source_session(const Settings& settings, const SourceCommandFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  return {url, store::process_name("skua source")};
}

}  // namespace

int source_list(const Settings& settings, const SourceCommandFlags& flags) {
  store::Session session = source_session(settings, flags);
  nlohmann::json sources = status::read_source_list(session);
  if (flags.json) {
    // Metrics are printed by `skua status` only.
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

int source_forget(const Settings& settings, const SourceCommandFlags& flags) {
  store::Session session = source_session(settings, flags);
  store::ForgottenSource forgotten;
  try {
    forgotten = store::forget_source(session, flags.name);
  } catch (const store::SourceBusy& busy) {
    command_line::print_stderr("skua source forget: {}: stop it first\n", busy.what());
    return kFailure;
  }
  if (!forgotten.is_known) {
    fmt::print(
        stderr,
        "skua source forget: the database has no source '{}'; `skua source list` shows all\n",
        flags.name);
    return kFailure;
  }
  fmt::print("forgot {}: cursor {}, {}; its rows stay\n", flags.name,
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

}  // namespace skua::cli
