#include "backfill/queue/job_outcomes.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "store/repository_table.hpp"

namespace skua::backfill {

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
