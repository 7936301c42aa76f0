#include "retention/remover.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "store/process_name.hpp"

namespace skua::retention {
namespace {

/// 32 MB in a round.
constexpr std::int64_t kBlocksOfRound = 4'096;
constexpr std::int64_t kRoundsOfDay = 86'400 / 10;

}  // namespace

Remover::Remover(Options options, const filter::CurrentFilter& filter)
    : filter_(filter),
      interval_(options.interval),
      thread_({.database_url = std::move(options.database_url),
               .session_name = store::process_name("skua retention"),
               .component = "retention",
               .failure = "old rows and rows of excluded accounts stay",
               .on_defect = std::move(options.on_defect)},
              [this](store::LazySession& session, const std::stop_token& stop) {
                if (!filter_.get()->limits().empty()) remove(session.get(), stop);
                return interval_;
              }) {}

void Remover::remove(store::Session& session, const std::stop_token& stop) {
  while (!stop.stop_requested() && remove_excluded(session, Due::Usual, metrics_) > 0) {
  }
  const std::string collection = next_expiring(session);
  if (collection.empty()) return;
  std::int64_t blocks = 0;
  while (!stop.stop_requested()) {
    const ExpiryStep step = expire_step(session, collection, metrics_);
    blocks += step.blocks;
    if (step.is_end || blocks >= std::max(kBlocksOfRound, step.all_blocks / kRoundsOfDay)) break;
  }
}

}  // namespace skua::retention
