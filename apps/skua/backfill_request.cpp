#include "backfill_request.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "addresses.hpp"
#include "atproto/syntax.hpp"
#include "backfill/discovery/audit.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "option.hpp"
#include "postgres/server_clock.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "settings.hpp"
#include "tables/account_groups.hpp"
#include "transport/endpoint.hpp"
#include "transport/spooled_body.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

using backfill::Again;
using backfill::HostList;
using backfill::NewJob;

/// The number of jobs that one statement queues.
constexpr std::size_t kJobsAtOnce = 5'000;
constexpr std::size_t kShownProblems = 100;

/// Jobs for CAR files, and the problems of unusable files.
struct CarJobs {
  std::vector<backfill::NewJob> jobs;
  /// The problems as texts for people. Each text names the file.
  std::vector<std::string> problems;
  /// Texts for people about files that were skipped, because another file has a newer revision of
  /// the same repository.
  std::vector<std::string> superseded;
};

Result<std::shared_ptr<const transport::SpooledBody>> map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return ErrorCode(errno, boost::system::generic_category());
  struct stat status {};
  auto mapped = [&]() -> Result<std::shared_ptr<const transport::SpooledBody>> {
    if (::fstat(file, &status) != 0) return ErrorCode(errno, boost::system::generic_category());
    if (status.st_size == 0) return ErrorCode(ENODATA, boost::system::generic_category());
    return transport::SpooledBody::map(file, static_cast<std::size_t>(status.st_size));
  }();
  ::close(file);
  return mapped;
}

/// The unverified statements of a CAR.
struct Head {
  std::string did;
  std::uint64_t rev = 0;  // 0: absent
};

/// Returns the head of a repository's CAR, or nothing with the reason in `problem`.
std::optional<Head> head_of(ByteView car, std::string& problem) {
  auto reader = repo::CarReader::open(car);
  if (!reader) {
    problem = reader.error().message();
    return std::nullopt;
  }
  if (reader->roots().empty()) {
    problem = "it has no root: it is not a repository";
    return std::nullopt;
  }
  const atproto::Cid root = reader->roots().front();
  for (;;) {
    const auto block = reader->next();
    if (!block) {
      problem = block.error().message();
      return std::nullopt;
    }
    if (!*block) {
      problem = "its first root is not in it";
      return std::nullopt;
    }
    if ((*block)->cid != root) continue;
    const auto commit = repo::decode_commit((*block)->data);
    if (!commit || !atproto::is_did(commit->did)) {
      problem = "its first root is not a commit: it is not a repository";
      return std::nullopt;
    }
    return Head{std::string(commit->did), commit->rev ? commit->rev->value : 0};
  }
}

/// Reads each file up to its commit to find the account and the revision. Each account gets one
/// job, for the newest of its files.
CarJobs jobs_of_cars(const std::vector<std::filesystem::path>& files) {
  CarJobs found;
  struct Place {
    std::size_t job = 0;
    std::uint64_t rev = 0;
  };
  std::unordered_map<std::string, Place> places;
  for (const std::filesystem::path& file : files) {
    const auto mapped = map_file(file);
    std::string problem;
    std::optional<Head> head;
    if (!mapped) {
      problem = mapped.error().message();
    } else {
      head = head_of((*mapped)->view(), problem);
    }
    if (!head) {
      found.problems.push_back(fmt::format("{}: {}", file.string(), problem));
      continue;
    }
    std::string path = std::filesystem::absolute(file).lexically_normal().string();
    const auto [place, is_first] =
        places.try_emplace(head->did, Place{found.jobs.size(), head->rev});
    if (is_first) {
      backfill::NewJob& job = found.jobs.emplace_back();
      job.did = std::move(head->did);
      job.file = std::move(path);
      continue;
    }
    std::string& kept = *found.jobs[place->second.job].file;
    if (path == kept) continue;
    if (head->rev > place->second.rev) {
      place->second.rev = head->rev;
      std::swap(kept, path);
    }
    found.superseded.push_back(
        fmt::format("{}: left out, {} is the same repository and no older", path, kept));
  }
  return found;
}

/// Returns the files below a directory whose names end in `.car`, sorted. Throws UsageError if the
/// directory cannot be read.
std::vector<std::filesystem::path> cars_below(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  try {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file() && entry.path().extension() == ".car") {
        files.push_back(entry.path());
      }
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError(fmt::format("--car-dir: {}: {}", directory.string(), error.code().message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Prints the problems of a request. The command continues with the rest of the request.
void print_problems(const std::vector<std::string>& problems, std::size_t count) {
  const std::size_t shown = std::min(problems.size(), kShownProblems);
  for (std::size_t i = 0; i < shown; ++i) command_line::print_stderr("skua: {}\n", problems[i]);
  if (count > shown) command_line::print_stderr("skua: and {} more\n", count - shown);
}

std::vector<NewJob> jobs_of_files(const Invocation& invocation, std::size_t& problems) {
  const Texts cars = invocation[kCars];
  for (const std::string& file : cars) require_file("--car", file);
  std::vector<std::filesystem::path> files(cars.begin(), cars.end());
  for (const std::string& directory : invocation[kCarDirs]) {
    const auto below = cars_below(directory);
    files.insert(files.end(), below.begin(), below.end());
  }
  CarJobs found = jobs_of_cars(files);
  print_problems(found.problems, found.problems.size());
  problems += found.problems.size();
  print_problems(found.superseded, found.superseded.size());
  return std::move(found.jobs);
}

/// Returns the first relay. If there is none, throws UsageError with the flag and the setting to
/// use.
SettingValue first_relay(const Invocation& invocation) {
  const auto relays = invocation[kRelay];
  return relays.empty() ? invocation.require(kRelay, "wss://HOST") : relays.front();
}

std::vector<HostList> lists_of(const Invocation& invocation, const RequestOptions& options) {
  std::vector<HostList> lists;
  for (const std::string& host : invocation[options.hosts]) {
    lists.push_back({host_origin({host, options.hosts.name}), backfill::kListOfRepos, true});
  }
  const Texts collections = invocation[options.collections];
  const bool is_network = invocation[options.network];
  if (collections.empty() && !is_network) return lists;
  const std::string origin = host_origin(first_relay(invocation));
  for (const std::string& nsid : collections) {
    if (!atproto::is_nsid(nsid)) {
      throw UsageError(
          fmt::format("{}: '{}' is not a collection; an example is app.bsky.feed.generator",
                      options.collections.name, nsid));
    }
    lists.push_back({origin, backfill::list_of_collection(nsid), true});
  }
  if (is_network) lists.push_back({origin, backfill::kListOfHosts, true});
  return lists;
}

}  // namespace

atproto::Tid read_tid(const SettingValue& given) {
  const auto tid = atproto::Tid::parse(given.value);
  if (!tid) {
    throw UsageError(fmt::format("{}: '{}' is not a revision (a TID)", given.origin, given.value));
  }
  return *tid;
}

BackfillRequest backfill_request(const Invocation& invocation, const RequestOptions& options) {
  BackfillRequest request;
  request.lists = lists_of(invocation, options);
  request.accounts = account_choice(invocation, invocation[options.who]);
  request.listed = account_choice(invocation, {}, invocation[options.files], options.files.name);
  request.since = invocation[kSinceRev];
  if (request.since && request.accounts.names.empty() && request.listed.names.empty()) {
    throw UsageError("--since-rev: it needs accounts, by name");
  }
  request.jobs = jobs_of_files(invocation, request.problems);
  return request;
}

void look_up_accounts(BackfillRequest& request) {
  request.named = look_up(request.accounts, request.problems);
  const auto add = [&](const std::vector<std::string>& dids) {
    for (const std::string& did : dids) {
      NewJob& job = request.jobs.emplace_back();
      job.did = did;
      job.since = request.since;
    }
  };
  add(request.named);
  add(look_up(request.listed, request.problems));
}

void leave_out_foreign(postgres::Session& session, BackfillRequest& request) {
  const atproto::GroupSet owned = tables::load_account_groups(session).owned;
  for (const std::string& did : request.named) {
    if (owned.has_account(did)) continue;
    throw tables::GroupsRefused(fmt::format("{}: the account is of {}: nothing was queued", did,
                                            tables::foreign_text(did)));
  }
  const std::size_t foreign = backfill::leave_out_foreign(session, request.jobs);
  if (foreign == 0) return;
  print_progress(fmt::format("{} left out: of groups that this database does not own",
                             counted(foreign, "repository")));
}

void queue_request(postgres::Session& session, BackfillRequest request, Again again) {
  leave_out_foreign(session, request);
  std::size_t queued = 0;
  const std::span<const NewJob> jobs = request.jobs;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kJobsAtOnce) {
    const auto some = jobs.subspan(begin, std::min(kJobsAtOnce, jobs.size() - begin));
    queued += backfill::add_jobs(session, some, again, postgres::server_time(session));
  }
  const std::size_t lists =
      backfill::add_lists(session, request.lists, again, postgres::server_time(session));
  if (!jobs.empty()) print_progress(counted(queued, "repository") + " queued");
  if (!request.lists.empty()) {
    print_progress(counted(lists, "list") + " of repositories to read");
  }
}

app::BackfillOptions backfill_options(const Invocation& invocation) {
  app::BackfillOptions options;
  options.verify = invocation[kVerify].has_value();
  options.limits.in_all = invocation[kConcurrency];
  auto& host = options.limits.host;
  host.at_most = static_cast<double>(invocation[kPerHost]);
  host.at_first = std::min(host.at_first, host.at_most);
  options.largest_repository = invocation[kLargestRepository] << 20;
  const auto network = network_accounts(invocation);
  options.ca_file = network.ca_file;
  options.allow_private_hosts = network.allow_private_hosts;
  return options;
}

}  // namespace skua::cli
