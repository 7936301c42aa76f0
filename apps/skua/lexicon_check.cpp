#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "bootstrap_check.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "lexicon.hpp"
#include "recheck/recheck.hpp"
#include "stop_signal.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The present lexicons, as soon as all processes apply them. False: stopped.
bool wait_for_lexicons(StopSignal& stop, store::Session& session, recheck::Lexicons& lexicons) {
  for (;;) {
    lexicons = recheck::present_lexicons(session);
    if (lexicons.is_settled) return true;
    if (stop.wait_for(std::chrono::milliseconds(200))) return false;
  }
}

/// False: stopped.
bool check_table(StopSignal& stop, const recheck::RecheckServices& services,
                 const writer::TableWriter& table, const recheck::Lexicons& lexicons) {
  const auto checked = services.metrics.checked.value();
  const auto changed = services.metrics.changed.value();
  while (!recheck::recheck_step(services, table, lexicons).is_end) {
    if (stop.wait_for(std::chrono::milliseconds(0))) return false;
  }
  fmt::print("{}: {} checked, {} changed\n", table.name(),
             counted(services.metrics.checked.value() - checked, "row"),
             services.metrics.changed.value() - changed);
  return true;
}

}  // namespace

int lexicon_check(const Settings& settings, const LexiconFlags& flags) {
  StopSignal stop;
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua lexicon"));
  if (!can_use_indexes(session, "lexicon check")) return kFailure;
  store::ServerClock clock(system_clock());
  clock.compare(session);
  const auto ids = std::make_unique<resolve::SharedIds>();
  recheck::RecheckMetrics metrics;
  const recheck::RecheckServices services{session, *ids, clock, metrics};
  recheck::Lexicons lexicons;
  bool is_complete = wait_for_lexicons(stop, session, lexicons);
  if (!lexicons.added->fault.empty()) {
    command_line::print_stderr("skua lexicon check: the added lexicons cannot be used: {}\n",
                               lexicons.added->fault);
    return kFailure;
  }
  const auto tables = recheck::due_tables(session, lexicons);
  for (const writer::TableWriter* table : tables) {
    is_complete = is_complete && check_table(stop, services, *table, lexicons);
  }
  if (!is_complete) {
    command_line::print_stderr("stopped; `skua lexicon check` continues\n");
    return kFailure;
  }
  if (tables.empty()) fmt::print("all records were checked against the present lexicons\n");
  return kSuccess;
}

}  // namespace skua::cli
