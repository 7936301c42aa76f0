#include "backfill/queue/job_outcomes.hpp"

#include <algorithm>
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
#include "writer/account_removal.hpp"
#include "writer/purge.hpp"

namespace skua::backfill {
namespace {

/// The thread that writes the ends starts jobs and renews leases, too: an account with millions of
/// records must not hold it up.
constexpr std::size_t kRowsInACall = writer::kRowsOfRemoval;
constexpr std::size_t kTransactionsInACall = 100;

void deletion_confirmed(store::Session& session, const std::string& did, std::size_t rows) {
  store::resync_of_deleted_done(session, did);
  if (rows == 0) return;
  logger("backfill")
      ->info("did={}: the host confirms that the account is deleted; {} removed", did,
             counted(static_cast<std::int64_t>(rows), "row"));
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
          JobError job{did, std::move(how.reason)};
          if (how.is_gone) {
            gone_.push_back({std::move(job)});
          } else {
            unavailable_.push_back(std::move(job));
          }
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

/// The job ends afterwards: if this process dies meanwhile, the job runs again.
void JobOutcomes::remove_gone(store::Session& session) {
  std::size_t rows = 0;
  std::size_t transactions = 0;
  while (!gone_.empty() && rows < kRowsInACall && transactions < kTransactionsInACall) {
    GoneAccount& account = gone_.front();
    const std::string& did = account.job.did;
    if (!account.purge) {
      account.purge = writer::confirm_deletion(session, did);
      ++transactions;
    }
    // The stream reported a deletion that the host could not confirm at the time. Now it has.
    if (account.purge) {
      while (!account.purge->is_done() && rows < kRowsInACall) {
        rows += account.purge->step(session);
        ++transactions;
      }
      if (!account.purge->is_done()) {
        // The others have their turn first.
        std::rotate(gone_.begin(), gone_.begin() + 1, gone_.end());
        return;
      }
      deletion_confirmed(session, did, account.purge->rows());
    }
    unavailable_.push_back(std::move(account.job));
    gone_.pop_front();
  }
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
  remove_gone(session);
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
