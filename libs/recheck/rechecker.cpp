#include "recheck/rechecker.hpp"

#include "store/pass_budget.hpp"
#include "store/process_name.hpp"

namespace skua::recheck {
Rechecker::Rechecker(store::Runtime& runtime, resolve::SharedIds& ids,
                     std::chrono::milliseconds interval)
    : ids_(ids),
      clock_(runtime.clocks.server),
      interval_(interval),
      thread_(runtime,
              {.session_name = store::process_name("skua recheck"),
               .component = "recheck",
               .failure = "stored records are not checked against changed lexicons"},
              [this](store::LazySession& session, const std::stop_token& stop) {
                check(session.get(), stop);
                return interval_;
              }) {}

void Rechecker::check(store::Session& session, const std::stop_token& stop) {
  lexicons_ = present_lexicons(session, lexicons_);
  if (!lexicons_.is_settled) return;
  store::PassBudget budget;
  for (const writer::TableWriter* table : due_tables(session, lexicons_)) {
    while (!stop.stop_requested()) {
      const RecheckStep step = recheck_step({session, ids_, clock_, metrics_}, *table, lexicons_);
      const bool has_budget = budget.spend(step.bytes, step.table_bytes);
      if (step.is_end) break;
      if (!has_budget) return;
    }
  }
}

}  // namespace skua::recheck
