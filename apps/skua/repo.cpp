#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "app/backfill_run.hpp"
#include "app/database.hpp"
#include "app/references.hpp"
#include "atproto/account_group.hpp"
#include "backfill/queue/job_commands.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/repository/resync_rows.hpp"
#include "backfill_request.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/reports.hpp"
#include "stop_signal.hpp"
#include "tables/account_groups.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

int repo_info(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  const AccountChoice accounts = account_choice(invocation, invocation[kWho]);
  app::check_database_to_read(url);
  std::size_t problems = 0;
  const std::vector<std::string> dids = look_up(accounts, problems);
  if (dids.empty()) return kFailure;
  postgres::Session session(url, postgres::process_name("skua repo info"));
  const atproto::GroupSet owned = tables::load_account_groups(session).owned;
  bool is_first = true;
  for (const std::string& did : dids) {
    const nlohmann::json info = status::read_repository_info(session, did);
    const bool is_foreign = !owned.has_account(did);
    if (is_foreign) {
      command_line::print_stderr("skua: {}: {}: its records are not stored here\n", did,
                                 tables::foreign_text(did));
    }
    if (info.is_null()) {
      if (!is_foreign) {
        command_line::print_stderr("skua: {}: nothing is known of this account\n", did);
      }
      ++problems;
      continue;
    }
    if (invocation[kJson]) {
      fmt::print("{}\n", info.dump());
    } else {
      fmt::print("{}{}", is_first ? "" : "\n", status::repository_info_text(info));
    }
    is_first = false;
  }
  return problems == 0 ? kSuccess : kFailure;
}

using backfill::JobState;

/// The maximum number of repositories in one round. Their rows are kept in memory during the round.
constexpr std::size_t kRepositoriesAtOnce = 200;
const Option<int> kAttempts({.name = "--attempts",
                             .type = "NUMBER",
                             .meaning = "Maximum number of attempts for an account, 1 to 15",
                             .default_value = "3"},
                            number_in<int>(1, 15));

/// The outcome of one round of repositories.
enum class End : std::uint8_t { AllWell, SomeFailed, Stopped };

/// A session that is opened again after the server was unreachable.
class Asker {
 public:
  explicit Asker(std::string database_url) : database_url_(std::move(database_url)) {}
  postgres::Session& session() {
    if (!session_ || !session_->connected()) {
      session_ = std::make_unique<postgres::Session>(database_url_,
                                                     postgres::process_name("skua repo resync"));
    }
    return *session_;
  }

 private:
  const std::string database_url_;
  std::unique_ptr<postgres::Session> session_;
};

std::vector<std::string> dids_of_jobs(std::span<const backfill::NewJob> jobs) {
  std::vector<std::string> dids;
  for (const backfill::NewJob& job : jobs) dids.push_back(job.did);
  return dids;
}

/// Prints other processes that work on some of the accounts, each process once.
class OtherLeaseOwners {
 public:
  OtherLeaseOwners(Asker& asker, const std::vector<std::string>& dids)
      : asker_(asker), dids_(dids) {}

  std::string text() {
    std::map<std::string, std::size_t> leased_by;
    try {
      for (const backfill::JobRow& job : backfill::read_jobs(asker_.session(), dids_)) {
        if (job.state == JobState::Running && job.lease_owner != app::BackfillRun::lease_owner()) {
          leased_by[job.lease_owner.value_or("?")] += 1;
        }
      }
    } catch (const postgres::ServerError&) {
      return {};
    }
    std::string lines;
    for (const auto& [lease_owner, count] : leased_by) {
      if (!said_.insert(lease_owner).second) continue;
      if (!lines.empty()) lines += '\n';
      lines +=
          fmt::format("{} has {} of them under way: its end is waited for", lease_owner, count);
    }
    return lines;
  }

 private:
  Asker& asker_;
  const std::vector<std::string>& dids_;
  std::set<std::string> said_;
};

std::string change_text(const backfill::RowsChanged* changed) {
  // The repository had no records before and has none now.
  if (changed == nullptr) return "no records; nothing differed";
  std::string text =
      fmt::format("{} {}; ", with_commas(changed->stored), noun_for(changed->stored, "record"));
  if (changed->added + changed->removed + changed->replaced == 0) return text + "nothing differed";
  return text + fmt::format("{} added, {} removed, {} replaced", with_commas(changed->added),
                            with_commas(changed->removed), with_commas(changed->replaced));
}

std::string end_text(const backfill::JobRow& job, const std::string& change) {
  std::string error = job.error.value_or("no reason is known");
  switch (job.state) {
    case JobState::Done:
      return fmt::format("equal to its repository at {}: {}", job.rev ? job.rev->to_string() : "?",
                         change);
    case JobState::Unavailable:
      return "not available, stored records stay: " + error;
    case JobState::Failed:
      return "failed, stored records stay: " + error;
    case JobState::Cancelled:
      return "was cancelled";
    case JobState::Queued:
    case JobState::Running:
      return job.error ? "stays queued: " + *job.error : "stays queued";
  }
  return error;
}

/// Returns the hosting status of each hidden account.
std::map<std::string, std::string> hidden_accounts(postgres::Session& session,
                                                   const std::vector<std::string>& dids) {
  static const postgres::Statement kHidden{
      "resync_hidden",
      "SELECT did, coalesce(status, 'not active'), status_time FROM bsky.actors "
      "WHERE did = ANY($1::text[]) AND NOT active"};
  postgres::Array array(postgres::Array::Type::text);
  for (const std::string& did : dids) array.text(did);
  postgres::Params params;
  params.array(array);
  const postgres::Rows rows = session.execute(kHidden, params);
  std::map<std::string, std::string> hidden;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string text(rows.text(i, 1));
    if (!rows.is_null(i, 2)) text += " since " + format_datetime(rows.timestamp(i, 2));
    hidden.emplace(rows.text(i, 0), std::move(text));
  }
  return hidden;
}

/// Prints the outcome for each account. Returns true if all are done.
bool print_ends(Asker& asker, const std::vector<std::string>& dids) {
  std::vector<backfill::RowsChanged> changes;
  bool is_compared = true;
  try {
    changes = backfill::rows_changed(asker.session(), dids);
  } catch (const postgres::SqlError&) {
    // The rows in memory were lost with the connection, so a comparison is not possible.
    is_compared = false;
  }
  std::map<std::string, backfill::JobRow> jobs;
  for (backfill::JobRow& job : backfill::read_jobs(asker.session(), dids)) {
    jobs.emplace(job.did, std::move(job));
  }
  const auto hidden = hidden_accounts(asker.session(), dids);
  bool all_well = true;
  for (const std::string& did : dids) {
    const auto job = jobs.find(did);
    const bool is_done = job != jobs.end() && job->second.state == JobState::Done;
    all_well = all_well && is_done;
    const auto change = std::find_if(changes.begin(), changes.end(),
                                     [&](const auto& one) { return one.did == did; });
    const std::string what = !is_compared
                                 ? "changes were not counted, because the database was unreachable"
                                 : change_text(change == changes.end() ? nullptr : &*change);
    fmt::print(is_done ? stdout : stderr, "{}: {}\n", did,
               job == jobs.end() ? "its job is gone" : end_text(job->second, what));
    if (const auto status = hidden.find(did); status != hidden.end()) {
      fmt::print(
          is_done ? stdout : stderr,
          "{}: stays hidden: its hosting status is {}. It is shown when its host says that it "
          "is active, or gives out the repository\n",
          did, status->second);
    }
  }
  std::fflush(stdout);
  return all_well;
}

End resync_some(std::span<const backfill::NewJob> jobs, app::BackfillRunOptions options,
                std::chrono::seconds every, StopSignal& stop_signal) {
  const std::string database_url = options.database_url;
  Asker asker(database_url);
  const std::vector<std::string> dids = dids_of_jobs(jobs);
  backfill::remember_rows(asker.session(), dids);
  backfill::request_resync(asker.session(), jobs);
  options.backfill.only = dids;

  OtherLeaseOwners others(asker, dids);
  if (const std::string text = others.text(); !text.empty()) print_progress(text);
  app::BackfillRun backfill(std::move(options), system_clock());
  backfill.start();
  watch_backfill(backfill, every, stop_signal, [&] { return others.text(); });
  const bool is_done = backfill.is_idle();
  if (!is_done) stop_signal.limit_the_end();
  backfill.stop();
  const auto reason = backfill.reason_to_stop();
  const bool all_well = print_ends(asker, dids);
  if (reason) {
    command_line::print_stderr("skua: {}\n", *reason);
    return End::Stopped;
  }
  if (!is_done) return End::Stopped;
  for (const auto& text : app::send_references(asker.session(), database_url)) print_error(text);
  return all_well ? End::AllWell : End::SomeFailed;
}

int repo_resync(const Invocation& invocation) {
  StopSignal stop_signal;
  const std::string database_url = require_database(invocation);
  const std::chrono::seconds every = invocation[kStatsInterval];
  BackfillRequest request = backfill_request(invocation);
  if (request.accounts.names.empty() && request.listed.names.empty() && request.jobs.empty() &&
      request.problems == 0) {
    throw UsageError("repo resync: name accounts, files of them with --file, or CAR files");
  }
  const auto options_of_round = [&] {
    app::BackfillRunOptions options;
    options.database_url = database_url;
    options.durability = durability(invocation);
    options.backfill = backfill_options(invocation);
    options.backfill.reader_threads = decode_threads(invocation, true);
    options.backfill.max_attempts = invocation[kAttempts];
    if (!invocation.has(kDidDocs)) options.check_handles = handle_checks(invocation);
    options.accounts = backfill_accounts(invocation, database_url);
    return options;
  };
  // Reading the options here checks all arguments before any work starts.
  std::optional<app::BackfillRunOptions> options = options_of_round();
  app::check_database(database_url, options->durability);
  app::state_groups(database_url);
  look_up_accounts(request);
  {
    postgres::Session session(database_url, postgres::process_name("skua repo resync"));
    leave_out_foreign(session, request);
  }
  if (request.jobs.empty()) return kFailure;

  bool all_well = request.problems == 0;
  const std::span<const backfill::NewJob> jobs = request.jobs;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kRepositoriesAtOnce) {
    if (!options) options = options_of_round();
    const auto some = jobs.subspan(begin, std::min(kRepositoriesAtOnce, jobs.size() - begin));
    const End end =
        resync_some(some, std::exchange(options, std::nullopt).value(), every, stop_signal);
    if (end == End::Stopped) {
      fmt::print(
          "stopped: `skua backfill` or `skua run` continues the queued ones; {} not started\n",
          counted(jobs.size() - begin - some.size(), "repository"));
      return kFailure;
    }
    all_well = all_well && end == End::AllWell;
  }
  return all_well ? kSuccess : kFailure;
}

}  // namespace

CommandSpecs repo_commands() {
  const OptionUse cars =
      with_meaning(kCars, "CAR files to use instead of downloads, one repository each");
  return {
      {"repo", "Show and repair the stored records of single repositories"},
      {"repo resync",
       "Make the stored records of accounts equal to their repositories",
       {kWho, kFiles, cars, kAttempts, kDatabase, kAllowUnsafeDatabase, kDidDocs, kVerifyRepository,
        kHandles, kDns, kPlc, kCaFile, kAllowPrivateHosts, kDecodeThreads, kStatsInterval},
       repo_resync},
      {"repo info",
       "Print the state of repositories",
       {required(kWho), kDatabase, kDns, kCaFile, kAllowPrivateHosts, kJson},
       repo_info}};
}

}  // namespace skua::cli
