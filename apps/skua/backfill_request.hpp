#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "account_choice.hpp"
#include "app/backfill_run.hpp"
#include "atproto/tid.hpp"
#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_table.hpp"
#include "settings.hpp"
#include "store/session.hpp"
#include "verification.hpp"

namespace skua::cli {

/// The flags of a backfill, as the command line gave them.
struct BackfillRequestFlags {
  /// The prefix of its flags, for messages: `--host` is `--backfill-host` in `skua run`.
  std::string prefix = "--";
  std::vector<std::string> who;
  std::vector<std::string> files;
  std::vector<std::string> hosts;
  std::vector<std::string> collections;
  bool network = false;
  std::vector<std::string> cars;
  std::vector<std::string> car_dirs;
  std::optional<std::string> since_rev;
  std::optional<std::string> concurrency;
  std::optional<std::string> per_host;
  std::optional<std::string> largest_repository;
};

/// The jobs and lists to queue. Problems were printed to stderr and counted.
struct BackfillRequest {
  /// `look_up_accounts` turns them into jobs.
  AccountChoice accounts;
  std::optional<atproto::Tid> since;
  std::vector<backfill::NewJob> jobs;
  std::vector<backfill::HostList> lists;
  std::size_t problems = 0;
};

/// Reads arguments and files; makes no request. `relay` is the value of the flag. Throws
/// UsageError.
BackfillRequest backfill_request(const Settings& settings, const BackfillRequestFlags& flags,
                                 const VerificationFlags& verification,
                                 const std::optional<std::string>& relay);

/// Looks handles up, and adds the jobs of the accounts.
void look_up_accounts(BackfillRequest& request);

/// Queues the request, due now; prints the number of jobs and lists to stdout. `again`: whether
/// what has ended is queued again.
void queue_request(store::Session& session, const BackfillRequest& request,
                   backfill::Again again = backfill::Again::Yes);

/// The origin of a host in any form that users write: `pds.example`, `http://localhost:2583`.
/// Throws UsageError, which names the flag or setting.
std::string host_origin(const Found& found);

/// How repositories are downloaded: `--concurrency`, `--per-host`, `--largest-repository`, and the
/// level of verification.
app::BackfillOptions backfill_options(const Settings& settings, const BackfillRequestFlags& flags,
                                      const VerificationFlags& verification);

}  // namespace skua::cli
