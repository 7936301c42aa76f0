#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/database.hpp"
#include "app/history.hpp"
#include "atproto/tid.hpp"
#include "backfill/did_arguments.hpp"
#include "backfill/job_counts.hpp"
#include "backfill/job_table.hpp"
#include "car_files.hpp"
#include "commands.hpp"
#include "identity/handle_check.hpp"
#include "stop_signal.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"
#include "tuning.hpp"

namespace skua::cli {
namespace {

using backfill::Again;
using backfill::NewJob;

/// Prints what is wrong with what was asked for; goes on with the rest.
void print_problems(const std::vector<std::string>& problems, std::size_t count) {
  for (const std::string& problem : problems) fmt::print(stderr, "skua backfill: {}\n", problem);
  if (count > problems.size()) {
    fmt::print(stderr, "skua backfill: and {} more\n", count - problems.size());
  }
}

std::vector<std::string> named_accounts(const BackfillFlags& flags, std::size_t& problems) {
  auto named = backfill::read_account_arguments(flags.who);
  print_problems(named.problems, named.problem_count);
  problems += named.problem_count;
  for (const std::string& file : flags.files) {
    std::ifstream in(file);
    if (!in) throw UsageError("--file: " + file + " cannot be read");
    auto listed = backfill::read_account_lines(in, file);
    print_problems(listed.problems, listed.problem_count);
    problems += listed.problem_count;
    named.names.insert(named.names.end(), listed.names.begin(), listed.names.end());
  }
  return named.names;
}

/// Jobs for the accounts that were named by DID or handle.
std::vector<NewJob> jobs_of_names(const Settings& settings, const BackfillFlags& flags,
                                  std::size_t& problems) {
  std::vector<std::string> dids = named_accounts(flags, problems);
  const auto is_handle = [](const std::string& name) { return !name.starts_with("did:"); };
  if (std::any_of(dids.begin(), dids.end(), is_handle)) {
    const auto accounts = network_accounts(settings, flags.verification);
    transport::HttpClientOptions options;
    options.ca_file = accounts.ca_file;
    options.allow_private_hosts = accounts.allow_private_hosts;
    transport::HttpClient http(options);
    const identity::HandleCheck check(
        http, identity::dns_txt_lookup(dns_server(settings, flags.verification.dns)));
    auto resolved = backfill::resolve_accounts(dids, check);
    print_problems(resolved.problems, resolved.problem_count);
    problems += resolved.problem_count;
    dids = std::move(resolved.names);
  }
  std::vector<NewJob> jobs;
  for (std::string& did : dids) jobs.push_back({std::move(did)});
  return jobs;
}

std::vector<NewJob> jobs_of_files(const BackfillFlags& flags, std::size_t& problems) {
  std::vector<std::filesystem::path> files(flags.cars.begin(), flags.cars.end());
  for (const std::string& directory : flags.car_dirs) {
    const auto below = cars_below(directory);
    files.insert(files.end(), below.begin(), below.end());
  }
  CarJobs found = jobs_of_cars(files);
  print_problems(found.problems, found.problems.size());
  problems += found.problems.size();
  return std::move(found.jobs);
}

std::unique_ptr<app::AccountSource> accounts_of(const Settings& settings,
                                                const BackfillFlags& flags,
                                                const std::string& database_url) {
  if (!verify_level(settings, flags.verification)) return nullptr;
  if (flags.did_docs) {
    auto documents = std::make_unique<app::DocumentAccounts>(*flags.did_docs);
    if (const std::string& problem = documents->problem(); !problem.empty()) {
      fmt::print(stderr, "skua backfill: {}\n", problem);
    }
    return documents;
  }
  auto accounts = network_accounts(settings, flags.verification);
  accounts.database_url = database_url;
  return std::make_unique<app::NetworkAccounts>(accounts, system_clock());
}

void print_line(const backfill::BackfillFigures& before, const backfill::BackfillFigures& now,
                double seconds) {
  const auto rate = [&](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(b - a) / seconds;
  };
  fmt::print("{} repositories done, {} under way  {:.0f} records/s  {:.1f} MB/s\n",
             now.repositories, now.in_hand, rate(before.records, now.records),
             rate(before.bytes, now.bytes) / 1e6);
  std::fflush(stdout);
}

}  // namespace

int backfill(const Settings& settings, const BackfillFlags& flags) {
  StopSignal stop_signal;
  const std::string database_url =
      settings.require(kDatabase, flags.database, "postgresql://...").value;
  app::check_database(database_url);
  std::size_t problems = 0;
  std::vector<NewJob> jobs = jobs_of_names(settings, flags, problems);
  for (NewJob& job : jobs_of_files(flags, problems)) jobs.push_back(std::move(job));
  if (flags.since_rev) {
    const auto since = atproto::Tid::parse(*flags.since_rev);
    if (!since) throw UsageError("--since-rev: '" + *flags.since_rev + "' is no revision (a TID)");
    for (NewJob& job : jobs) job.since = *since;
  }
  {
    store::Session session(database_url, store::process_name("skua backfill ask"));
    const std::size_t queued = backfill::add_jobs(session, jobs, Again::Yes, system_clock().now());
    fmt::print("{} repositories queued\n", queued);
  }

  app::HistoryOptions options;
  options.database_url = database_url;
  options.accounts = accounts_of(settings, flags, database_url);
  const auto network = network_accounts(settings, flags.verification);
  options.ca_file = network.ca_file;
  options.allow_private_hosts = network.allow_private_hosts;
  if (!flags.did_docs) options.check_handles = handle_checks(settings, flags.verification);
  options.reader_threads = decode_threads(settings, flags.decode_threads, true);
  const std::chrono::seconds every = figures_every(settings, flags.figures_every);

  app::History history(std::move(options), system_clock());
  history.start();
  backfill::BackfillFigures before = history.figures();
  auto line_at = std::chrono::steady_clock::now();
  bool stopping = false;
  while (!stopping && !history.is_idle() && !history.defect()) {
    stopping = stop_signal.wait_for(std::chrono::milliseconds(100));
    const auto now = std::chrono::steady_clock::now();
    if (now - line_at < every) continue;
    const backfill::BackfillFigures figures = history.figures();
    print_line(before, figures, std::chrono::duration<double>(now - line_at).count());
    before = figures;
    line_at = now;
  }
  stop_signal.end_at_once_after(std::chrono::seconds(28));
  history.stop();
  const backfill::BackfillFigures end = history.figures();
  fmt::print(
      "{}: {} repositories, {} records, {} rows changed, {} removed, {} dead letters; "
      "{} unavailable, {} failed attempts\n",
      stopping ? "stopped, the rest stays queued" : "done", end.repositories, end.records, end.rows,
      end.removed, end.dead_letters, end.unavailable, end.failed);
  if (const auto defect = history.defect()) {
    fmt::print(stderr, "skua backfill: {}\n", *defect);
    return kFailure;
  }
  return problems == 0 && !stopping ? kSuccess : kFailure;
}

}  // namespace skua::cli
