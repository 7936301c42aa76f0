#include "backfill/queue/job_outcomes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/count_text.hpp"
#include "base/log.hpp"
#include "store/repository_table.hpp"
#include "writer/purge.hpp"

namespace skua::backfill {
namespace {

/// The stream has reported a deletion that the host could not confirm at the time. Now it has.
void remove_deleted(store::Session& session, const std::string& did) {
  const std::optional<std::size_t> rows = writer::purge_deleted_account(session, did);
  if (!rows) return;
  store::resync_of_deleted_done(session, did);
  if (*rows == 0) return;
  logger("backfill")
      ->info("did={}: the host confirms that the account is deleted; {} removed", did,
             counted(static_cast<std::int64_t>(*rows), "row"));
}

}  // namespace

JobOutcomes::JobOutcomes(std::string lease_owner, int max_attempts, const Clock& clock,
                         BackfillCounters& counters)
    : lease_owner_(std::move(lease_owner)),
      max_attempts_(max_attempts),
      clock_(clock),
      counters_(counters) {}

void JobOutcomes::add(const std::string& did, JobEnd end) {
  std::visit(
      [&](auto& how) {
        using How = std::decay_t<decltype(how)>;
        if constexpr (std::is_same_v<How, JobMoved>) {
          moved_.push_back({did, std::move(how.host)});
        } else if constexpr (std::is_same_v<How, JobUnavailable>) {
          if (how.is_gone) gone_.push_back(did);
          unavailable_.push_back({did, std::move(how.reason)});
        } else if constexpr (std::is_same_v<How, JobPostponed>) {
          postponed_.push_back({did, std::move(how.reason), how.wait});
        } else if constexpr (std::is_same_v<How, JobFailed>) {
          auto& failed = how.is_final ? failed_finally_ : failed_;
          failed.push_back({did, std::move(how.reason), how.wait});
        }
        // Nothing is left to write for the others.
      },
      end);
}

void JobOutcomes::write(store::Session& session) {
  const Timestamp now = clock_.now();
  // What is written is not written again when a later statement fails.
  const auto write_all = [](auto& pending, auto&& into_table) {
    if (pending.empty()) return;
    into_table();
    pending.clear();
  };
  write_all(moved_, [&] { set_hosts(session, moved_, lease_owner_, now); });
  write_all(postponed_, [&] {
    jobs_postponed(session, postponed_, lease_owner_, now);
    counters_.postponed += postponed_.size();
  });
  // Before the job ends: if this process dies meanwhile, the job runs again.
  while (!gone_.empty()) {
    remove_deleted(session, gone_.back());
    gone_.pop_back();
  }
  write_all(unavailable_, [&] {
    jobs_unavailable(session, unavailable_, lease_owner_, now);
    // If the job is a resync, that has failed too.
    for (const JobError& job : unavailable_) {
      store::resync_failed(session, job.did, job.reason, now);
    }
    counters_.unavailable += unavailable_.size();
  });
  write_all(failed_, [&] {
    counters_.abandoned += jobs_failed(session, failed_, lease_owner_, now, max_attempts_);
    counters_.failed += failed_.size();
  });
  write_all(failed_finally_, [&] {
    counters_.abandoned += jobs_failed(session, failed_finally_, lease_owner_, now, 1);
    counters_.failed += failed_finally_.size();
  });
}

}  // namespace skua::backfill
