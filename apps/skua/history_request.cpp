#include "history_request.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "atproto/tid.hpp"
#include "backfill/did_arguments.hpp"
#include "car_files.hpp"
#include "identity/handle_check.hpp"
#include "relay_address.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {
namespace {

using backfill::Again;
using backfill::HostList;
using backfill::NewJob;

/// Jobs are queued so many at a time.
constexpr std::size_t kJobsAtOnce = 5'000;
constexpr std::size_t kShownProblems = 100;

/// Says what is wrong with what was asked for; the rest goes on.
void print_problems(const std::vector<std::string>& problems, std::size_t count) {
  const std::size_t shown = std::min(problems.size(), kShownProblems);
  for (std::size_t i = 0; i < shown; ++i) fmt::print(stderr, "skua: {}\n", problems[i]);
  if (count > shown) fmt::print(stderr, "skua: and {} more\n", count - shown);
}

std::vector<std::string> names_of(const std::vector<std::string>& who,
                                  const std::vector<std::string>& files, std::size_t& problems) {
  auto named = backfill::read_account_arguments(who);
  print_problems(named.problems, named.problem_count);
  problems += named.problem_count;
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw UsageError(fmt::format("--file: {} cannot be read", file));
    auto listed = backfill::read_account_lines(in, file);
    print_problems(listed.problems, listed.problem_count);
    problems += listed.problem_count;
    std::move(listed.names.begin(), listed.names.end(), std::back_inserter(named.names));
  }
  return named.names;
}

std::vector<NewJob> jobs_of_files(const HistoryFlags& flags, std::size_t& problems) {
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

std::vector<HostList> lists_of(const Settings& settings, const HistoryFlags& flags,
                               const std::optional<std::string>& relay) {
  std::vector<HostList> lists;
  for (const std::string& host : flags.hosts) {
    lists.push_back({host_origin({host, "--host"}), backfill::kListOfRepos, true});
  }
  if (flags.collections.empty() && !flags.network) return lists;
  const std::string origin = host_origin(first_relay(settings, relay));
  for (const std::string& nsid : flags.collections) {
    if (!atproto::is_nsid(nsid)) {
      throw UsageError(fmt::format(
          "--collection: '{}' is no collection; an example is app.bsky.feed.generator", nsid));
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
  endpoint->path.assign(1, '/');
  endpoint->query.clear();
  std::string origin = endpoint->http_url();
  origin.pop_back();  // the slash
  return origin;
}

std::vector<std::string> dids_of(const Settings& settings, const VerificationFlags& verification,
                                 const std::vector<std::string>& who,
                                 const std::vector<std::string>& files, std::size_t& problems) {
  std::vector<std::string> names = names_of(who, files, problems);
  const auto is_handle = [](const std::string& name) { return !name.starts_with("did:"); };
  if (std::none_of(names.begin(), names.end(), is_handle)) return names;
  const auto accounts = network_accounts(settings, verification);
  transport::HttpClientOptions options;
  options.ca_file = accounts.ca_file;
  options.allow_private_hosts = accounts.allow_private_hosts;
  transport::HttpClient http(options);
  const identity::HandleCheck check(
      http, identity::dns_txt_lookup(dns_server(settings, verification.dns)));
  auto resolved = backfill::resolve_accounts(names, check);
  print_problems(resolved.problems, resolved.problem_count);
  problems += resolved.problem_count;
  return std::move(resolved.names);
}

HistoryRequest history_request(const Settings& settings, const HistoryFlags& flags,
                               const VerificationFlags& verification,
                               const std::optional<std::string>& relay) {
  HistoryRequest request;
  request.lists = lists_of(settings, flags, relay);
  for (std::string& did :
       dids_of(settings, verification, flags.who, flags.files, request.problems)) {
    request.jobs.push_back({std::move(did)});
  }
  if (flags.since_rev) {
    const auto since = atproto::Tid::parse(*flags.since_rev);
    if (!since) {
      throw UsageError(fmt::format("--since-rev: '{}' is no revision (a TID)", *flags.since_rev));
    }
    if (request.jobs.empty()) throw UsageError("--since-rev: it needs accounts, by name");
    for (NewJob& job : request.jobs) job.since = *since;
  }
  for (NewJob& job : jobs_of_files(flags, request.problems)) {
    request.jobs.push_back(std::move(job));
  }
  return request;
}

void queue_request(store::Session& session, const HistoryRequest& request) {
  std::size_t queued = 0;
  const std::span<const NewJob> jobs = request.jobs;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kJobsAtOnce) {
    const auto some = jobs.subspan(begin, std::min(kJobsAtOnce, jobs.size() - begin));
    queued += backfill::add_jobs(session, some, Again::Yes, system_clock().now());
  }
  const std::size_t lists =
      backfill::add_lists(session, request.lists, Again::Yes, system_clock().now());
  if (!jobs.empty()) fmt::print("{} repositories queued\n", queued);
  if (!request.lists.empty())
    fmt::print("{} list{} of repositories to read\n", lists, lists == 1 ? "" : "s");
  std::fflush(stdout);
}

app::HistoryOptions history_options(const Settings& settings, const HistoryFlags& flags,
                                    const VerificationFlags& verification) {
  app::HistoryOptions options;
  options.verify = verify_level(settings, verification).has_value();
  if (const auto found = settings.find(kConcurrency, flags.concurrency)) {
    options.limits.in_all = static_cast<std::size_t>(whole_number(*found, 1, 1'000));
  }
  if (const auto found = settings.find(kPerHost, flags.per_host)) {
    auto& host = options.limits.host;
    host.at_most = static_cast<std::size_t>(whole_number(*found, 1, 100));
    host.at_first = std::min(host.at_first, host.at_most);
  }
  const auto network = network_accounts(settings, verification);
  options.ca_file = network.ca_file;
  options.allow_private_hosts = network.allow_private_hosts;
  return options;
}

}  // namespace skua::cli
