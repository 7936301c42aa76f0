#include "backfill_request.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/count_text.hpp"
#include "car_files.hpp"
#include "command_line/finish.hpp"
#include "input_file.hpp"
#include "progress.hpp"
#include "relay_address.hpp"
#include "store/server_clock.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {
namespace {

using backfill::Again;
using backfill::HostList;
using backfill::NewJob;

/// The number of jobs that are queued at a time.
constexpr std::size_t kJobsAtOnce = 5'000;
constexpr std::size_t kShownProblems = 100;

/// Prints the problems of a request; the rest continues.
void print_problems(const std::vector<std::string>& problems, std::size_t count) {
  const std::size_t shown = std::min(problems.size(), kShownProblems);
  for (std::size_t i = 0; i < shown; ++i) command_line::print_stderr("skua: {}\n", problems[i]);
  if (count > shown) command_line::print_stderr("skua: and {} more\n", count - shown);
}

std::vector<NewJob> jobs_of_files(const BackfillRequestFlags& flags, std::size_t& problems) {
  for (const std::string& file : flags.cars) require_file("--car", file);
  std::vector<std::filesystem::path> files(flags.cars.begin(), flags.cars.end());
  for (const std::string& directory : flags.car_dirs) {
    const auto below = cars_below(directory);
    files.insert(files.end(), below.begin(), below.end());
  }
  CarJobs found = jobs_of_cars(files);
  print_problems(found.problems, found.problems.size());
  problems += found.problems.size();
  print_problems(found.superseded, found.superseded.size());
  return std::move(found.jobs);
}

std::vector<HostList> lists_of(const Settings& settings, const BackfillRequestFlags& flags,
                               const std::optional<std::string>& relay) {
  std::vector<HostList> lists;
  for (const std::string& host : flags.hosts) {
    lists.push_back({host_origin({host, flags.prefix + "host"}), backfill::kListOfRepos, true});
  }
  if (flags.collections.empty() && !flags.network) return lists;
  const std::string origin = host_origin(first_relay(settings, relay));
  for (const std::string& nsid : flags.collections) {
    if (!atproto::is_nsid(nsid)) {
      throw UsageError(
          fmt::format("{}collection: '{}' is not a collection; an example is "
                      "app.bsky.feed.generator",
                      flags.prefix, nsid));
    }
    lists.push_back({origin, backfill::list_of_collection(nsid), true});
  }
  if (flags.network) lists.push_back({origin, backfill::kListOfHosts, true});
  return lists;
}

}  // namespace

std::string host_origin(const Found& found) {
  auto endpoint = transport::parse_endpoint(found.value);
  if (!endpoint) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is https://pds.example", found.origin,
                                 found.value, endpoint.error().message()));
  }
  return http_origin(*endpoint);
}

BackfillRequest backfill_request(const Settings& settings, const BackfillRequestFlags& flags,
                                 const VerificationFlags& verification,
                                 const std::optional<std::string>& relay) {
  BackfillRequest request;
  request.lists = lists_of(settings, flags, relay);
  request.accounts =
      account_choice(settings, verification, flags.who, flags.files, flags.prefix + "file");
  if (flags.since_rev) {
    const auto since = atproto::Tid::parse(*flags.since_rev);
    if (!since) {
      throw UsageError(
          fmt::format("--since-rev: '{}' is not a revision (a TID)", *flags.since_rev));
    }
    if (request.accounts.names.empty()) {
      throw UsageError("--since-rev: it needs accounts, by name");
    }
    request.since = *since;
  }
  request.jobs = jobs_of_files(flags, request.problems);
  return request;
}

void look_up_accounts(BackfillRequest& request) {
  for (std::string& did : look_up(request.accounts, request.problems)) {
    NewJob& job = request.jobs.emplace_back();
    job.did = std::move(did);
    job.since = request.since;
  }
}

void queue_request(store::Session& session, const BackfillRequest& request, Again again) {
  std::size_t queued = 0;
  const std::span<const NewJob> jobs = request.jobs;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kJobsAtOnce) {
    const auto some = jobs.subspan(begin, std::min(kJobsAtOnce, jobs.size() - begin));
    queued += backfill::add_jobs(session, some, again, store::server_time(session));
  }
  const std::size_t lists =
      backfill::add_lists(session, request.lists, again, store::server_time(session));
  if (!jobs.empty()) print_progress(counted(queued, "repository") + " queued");
  if (!request.lists.empty()) {
    print_progress(counted(lists, "list") + " of repositories to read");
  }
}

app::BackfillOptions backfill_options(const Settings& settings, const BackfillRequestFlags& flags,
                                      const VerificationFlags& verification) {
  app::BackfillOptions options;
  options.verify = verify_level(settings, verification).has_value();
  if (const auto found = settings.find(kConcurrency, flags.concurrency)) {
    options.limits.in_all = static_cast<std::size_t>(whole_number(*found, 1, 1'000));
  }
  if (const auto found = settings.find(kPerHost, flags.per_host)) {
    auto& host = options.limits.host;
    host.at_most = static_cast<double>(whole_number(*found, 1, 100));
    host.at_first = std::min(host.at_first, host.at_most);
  }
  if (const auto found = settings.find(kLargestRepository, flags.largest_repository)) {
    options.largest_repository = static_cast<std::size_t>(whole_number(*found, 1, 1'000'000)) << 20;
  }
  const auto network = network_accounts(settings, verification);
  options.ca_file = network.ca_file;
  options.allow_private_hosts = network.allow_private_hosts;
  return options;
}

}  // namespace skua::cli
