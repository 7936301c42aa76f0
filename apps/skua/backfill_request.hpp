#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "accounts.hpp"
#include "app/backfill_run.hpp"
#include "atproto/tid.hpp"
#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_table.hpp"
#include "commands.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"

namespace skua::cli {

// These are the options of the commands that download repositories.

/// Reads a revision.
atproto::Tid read_tid(const SettingValue& given);

inline const Option<Texts> kHosts(
    {.name = "--host",
     .type = "URL",
     .meaning = "All accounts of this host, such as https://pds.example"});
inline const Option<bool> kNetwork({.name = "--network",
                                    .meaning = "All accounts of all hosts of --relay"});
inline const Option<Texts> kCars({.name = "--car",
                                  .type = "FILE",
                                  .meaning = "CAR files, one repository each",
                                  .takes_several = true});
inline const Option<Texts> kCarDirs({.name = "--car-dir",
                                     .type = "FOLDER",
                                     .meaning = "Folders with .car files, at any depth"});
inline const Option<std::optional<atproto::Tid>> kSinceRev(
    {.name = "--since-rev",
     .type = "TID",
     .meaning = "Download only the changes after this revision, for accounts that are complete as "
                "of it"},
    read_tid);

/// The options that request a backfill. Their names differ in `skua run`.
struct RequestOptions {
  const Option<Texts>& who;
  const Option<Texts>& files;
  const Option<Texts>& hosts;
  const Option<Texts>& collections;
  const Option<bool>& network;
};
inline const RequestOptions kRequestOptions{kWho, kFiles, kHosts, kCollections, kNetwork};

/// The differences of the help of commands that check whole repositories.
inline const OptionUse kVerifyRepository{
    kVerify,
    {.type = "full|none", .meaning = "Check of the signature of a repository: full, or none"}};

/// The jobs and lists to queue. Problems have been printed to stderr and counted.
struct BackfillRequest {
  /// The accounts that the command line names, and those of its files. `look_up_accounts` turns
  /// them into jobs.
  AccountChoice accounts;
  AccountChoice listed;
  /// The DIDs of `accounts`, after `look_up_accounts`.
  std::vector<std::string> named;
  std::optional<atproto::Tid> since;
  std::vector<backfill::NewJob> jobs;
  std::vector<backfill::HostList> lists;
  std::size_t problems = 0;
};

/// Reads arguments and files, and makes no request. Throws UsageError.
BackfillRequest backfill_request(const Invocation& invocation,
                                 const RequestOptions& options = kRequestOptions);

/// Looks handles up, and adds the jobs of the accounts.
void look_up_accounts(BackfillRequest& request);

/// Leaves out the jobs of accounts whose group the database does not own, and prints their number.
/// Throws tables::GroupsRefused if the command line names such an account.
void leave_out_foreign(postgres::Session& session, BackfillRequest& request);

/// Queues the request without the accounts of foreign groups (`leave_out_foreign`), due now, and
/// prints the number of jobs and lists to stdout. `again` says
/// whether finished jobs and lists are queued again.
void queue_request(postgres::Session& session, BackfillRequest request,
                   backfill::Again again = backfill::Again::Yes);

/// Reads the options of downloads: `--concurrency`, `--per-host`, `--largest-repository`, and the
/// level of verification.
app::BackfillOptions backfill_options(const Invocation& invocation);

}  // namespace skua::cli
