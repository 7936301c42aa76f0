#include "backfill/repository/download.hpp"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backfill/repository/repo_answer.hpp"
#include "identity/errc.hpp"
#include "identity/host_site.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {
namespace {

using std::chrono::seconds;

/// Larger CARs are stored in a file.
constexpr std::size_t kSpoolAbove = std::size_t{8} << 20;
/// If a host answers 429 without a time. Its concurrency limit decides when it is asked again.
constexpr seconds kWaitAfterLimit{5};
/// How long a job waits for disk space.
constexpr seconds kWaitForDisk{60};

std::string cannot_be_read(const std::string& name, const std::string& reason) {
  return fmt::format("{} cannot be read: {}", name, reason);
}

}  // namespace

bool is_stop(const ErrorCode& error) {
  return error == identity::errc::stopped || error == transport::errc::http_stopped;
}

std::shared_ptr<HeldCar> held_car(const JobServices& services, std::string site) {
  return std::make_shared<HeldCar>(services.counters.held_bytes, services.disk, std::move(site),
                                   kSpoolAbove);
}

transport::HttpRequest repository_request(const JobServices& services,
                                          const FetchedRepository& fetched,
                                          std::shared_ptr<HeldCar> held) {
  transport::HttpRequest request;
  request.url = get_repo_url(*fetched.job.host, fetched.job.did,
                             fetched.is_partial ? fetched.job.since : std::nullopt);
  request.origin = fetched.host_origin;
  request.max_body_bytes = services.download.largest_repository;
  request.spool_above = kSpoolAbove;
  request.min_bytes_per_second = services.download.slowest;
  request.min_average_bytes_per_second = services.download.slowest_on_average;
  // A few compressed bytes could become any number of bytes.
  request.plain = true;
  request.may_hold = [held = std::move(held)](std::size_t bytes) { return held->add(bytes); };
  request.on_bytes = [&counters = services.counters](std::size_t bytes) {
    counters.bytes += bytes;
  };
  return request;
}

std::optional<JobEnd> end_without_car(const std::string& host,
                                      const Result<transport::HttpAnswer>& answer, Timestamp now) {
  if (!answer && is_stop(answer.error())) return JobStopped{};
  if (!answer && answer.error() == transport::errc::http_no_room) {
    return JobPostponed{host + ": " + failure_message(answer), kWaitForDisk};
  }
  const RepoAnswer meaning = classify_repo_answer(answer, now);
  if (const auto* unavailable = std::get_if<RepoUnavailable>(&meaning)) {
    return JobUnavailable{unavailable->message, unavailable->reason == "RepoNotFound"};
  }
  if (const auto* limited = std::get_if<HostLimited>(&meaning)) {
    return JobPostponed{host + ": " + kLimitedText, limited->wait.value_or(kWaitAfterLimit)};
  }
  if (const auto* failure = std::get_if<RequestFailed>(&meaning)) {
    return JobFailed{host + ": " + failure->message, failure->wait.value_or(seconds(0))};
  }
  return std::nullopt;
}

void keep_answer(FetchedRepository& fetched, transport::HttpAnswer answer,
                 const std::shared_ptr<HeldCar>& held) {
  auto kept = std::make_shared<const transport::HttpAnswer>(std::move(answer));
  fetched.car = transport::body_of(*kept);
  fetched.mapped = kept->spooled.get();
  held->keep(std::move(kept), fetched.car.size());
  fetched.bytes = held;
}

std::string map_car_file(FetchedRepository& fetched, const std::shared_ptr<HeldCar>& held) {
  const std::string& name = *fetched.job.file;
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size == 0) {
    const std::string reason =
        file >= 0 && status.st_size == 0 ? "it is empty" : std::generic_category().message(errno);
    if (file >= 0) ::close(file);
    return cannot_be_read(name, reason);
  }
  auto mapped = transport::SpooledBody::map(file, static_cast<std::size_t>(status.st_size));
  ::close(file);
  if (!mapped) return cannot_be_read(name, mapped.error().message());
  fetched.car = (*mapped)->view();
  fetched.mapped = mapped->get();
  held->keep(*std::move(mapped), fetched.car.size());
  fetched.bytes = held;
  return {};
}

}  // namespace skua::backfill
