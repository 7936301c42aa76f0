#include "retention/remover.hpp"

#include "store/pass_budget.hpp"
#include "store/process_name.hpp"

namespace skua::retention {
Remover::Remover(store::Runtime& runtime, const filter::CurrentFilter& filter,
                 std::chrono::milliseconds interval)
    : filter_(filter),
      interval_(interval),
      thread_(runtime,
              {.session_name = store::process_name("skua retention"),
               .component = "retention",
               .failure = "old rows and rows of deleted and excluded accounts stay"},
              [this](store::LazySession& session, const std::stop_token& stop) {
                remove(session.get(), stop);
                return interval_;
              }) {}

void Remover::remove(store::Session& session, const std::stop_token& stop) {
  while (purge_deleted(session, stop, metrics_) > 0) {
  }
  if (filter_.get()->limits().empty()) return;
  while (!stop.stop_requested() && remove_excluded(session, Due::Usual, metrics_) > 0) {
  }
  const std::string collection = next_expiring(session);
  if (collection.empty()) return;
  store::PassBudget budget;
  while (!stop.stop_requested()) {
    const ExpiryStep step = expire_step(session, collection, metrics_);
    if (!budget.spend(step.bytes, step.table_bytes) || step.is_end) break;
  }
}

}  // namespace skua::retention
