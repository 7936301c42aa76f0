#include "recheck/rechecker.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "store/process_name.hpp"

namespace skua::recheck {
namespace {

/// 32 MB in a round.
constexpr std::int64_t kBlocksOfRound = 4'096;
constexpr std::int64_t kRoundsOfDay = 86'400 / 10;

}  // namespace

Rechecker::Rechecker(Options options, resolve::SharedIds& ids, const Clock& clock)
    : ids_(ids),
      clock_(clock),
      interval_(options.interval),
      thread_({.database_url = std::move(options.database_url),
               .session_name = store::process_name("skua recheck"),
               .component = "recheck",
               .failure = "stored records are not checked against changed lexicons",
               .on_defect = std::move(options.on_defect)},
              [this](store::LazySession& session, const std::stop_token& stop) {
                check(session.get(), stop);
                return interval_;
              }) {}

void Rechecker::check(store::Session& session, const std::stop_token& stop) {
  const Lexicons lexicons = present_lexicons(session);
  if (!lexicons.is_settled) return;
  std::int64_t blocks = 0;
  for (const writer::TableWriter* table : due_tables(session, lexicons)) {
    while (!stop.stop_requested()) {
      const RecheckStep step = recheck_step({session, ids_, clock_, metrics_}, *table, lexicons);
      blocks += step.blocks;
      if (step.is_end) break;
      if (blocks >= std::max(kBlocksOfRound, step.all_blocks / kRoundsOfDay)) return;
    }
  }
}

}  // namespace skua::recheck
