#include "backfill/repository/download.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backfill/did_arguments.hpp"
#include "base/text.hpp"
#include "documents/errc.hpp"
#include "documents/host_status.hpp"
#include "repo/car.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {

namespace {

using nlohmann::json;

constexpr unsigned kOk = 200;
constexpr unsigned kTooMany = 429;

/// The final errors of com.atproto.sync.getRepo, and their meanings.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFinal = {{
    {"RepoNotFound", "the host has no such repository"},
    {"RepoTakendown", "the host has taken the repository down"},
    {"RepoSuspended", "the host has suspended the account"},
    {"RepoDeactivated", "the owner has deactivated the account, or has moved away"},
}};

struct XrpcError {
  std::string name;
  std::string message;
};

/// Returns a part of a text from an untrusted server that can be shown on one line.
std::string shown(const json& object, const char* field, std::size_t most) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_string()) return {};
  auto text = found->get<std::string>();
  if (text.size() > most) {
    text.resize(most);
    while (!text.empty() && !is_utf8(text)) text.pop_back();
    text += "...";
  }
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return text;
}

XrpcError xrpc_error(const transport::HttpAnswer& answer) {
  constexpr std::size_t kLongestBody = 16 * 1024;
  constexpr std::size_t kLongestName = 64;
  constexpr std::size_t kLongestMessage = 200;
  if (answer.body.size() > kLongestBody) return {};
  const auto body = json::parse(answer.body, nullptr, false);
  if (!body.is_object()) return {};
  return {shown(body, "error", kLongestName), shown(body, "message", kLongestMessage)};
}

/// Whether a body is a page or a text. The Content-Type may be wrong in both directions, so it
/// counts only for a body that is not a CAR.
bool is_page(const transport::HttpAnswer& answer) {
  const ByteView body = transport::body_of(answer);
  if (repo::CarReader::open(body)) return false;
  const auto type = ascii_lower(answer.content_type);
  if (type.starts_with("text/") || type.starts_with("application/json")) return true;
  constexpr std::size_t kEnough = 64;
  const auto begin = ascii_lower(trimmed(as_text(body).substr(0, kEnough)));
  return begin.starts_with("<!doctype") || begin.starts_with("<html") || begin.starts_with("{");
}

std::string what_to_do(const ErrorCode& error) {
  if (error == transport::errc::http_too_large) {
    return "; --largest-repository raises it, if this account is wanted";
  }
  if (error == transport::errc::spool_failed) {
    return "; see that the folder for temporary files can be written to and has room";
  }
  return {};
}

std::string status_reason(const transport::HttpAnswer& answer) {
  const auto error = xrpc_error(answer);
  auto message = fmt::format("the host answered {}", answer.status);
  if (!error.name.empty()) message += " " + error.name;
  if (!error.message.empty()) message += ": " + error.message;
  return message;
}

using std::chrono::seconds;

/// The size above which CARs are stored in a file.
constexpr std::size_t kSpoolAbove = std::size_t{8} << 20;
/// The wait after a host answers 429 without a time. The concurrency limit of the host decides when
/// the next request is sent.
constexpr seconds kWaitAfterLimit{5};
/// The time that a job waits for disk space.
constexpr seconds kWaitForDisk{60};

std::string cannot_be_read(const std::string& name, const std::string& reason) {
  return fmt::format("{} cannot be read: {}", name, reason);
}

}  // namespace

std::string failure_message(const Result<transport::HttpAnswer>& answer) {
  if (!answer) return answer.error().message() + what_to_do(answer.error());
  if (answer->status == kTooMany) return "the host answered 429: it wants to be asked less often";
  if (answer->status != kOk) return status_reason(*answer);
  if (transport::body_of(*answer).empty()) return "the host answered with nothing";
  return "the host answered with a page or a text instead of a repository";
}

RepoAnswer classify_repo_answer(const Result<transport::HttpAnswer>& answer, Timestamp now) {
  if (!answer) return RequestFailed{failure_message(answer), std::nullopt};
  const auto wait = transport::asked_wait(*answer, now);
  if (answer->status == kTooMany) return HostLimited{wait};
  if (answer->status == 400 || answer->status == 404) {
    const auto name = xrpc_error(*answer).name;
    const auto* final = std::find_if(kFinal.begin(), kFinal.end(),
                                     [&](const auto& known) { return known.first == name; });
    if (final != kFinal.end())
      return RepoUnavailable{name, fmt::format("{}: {}", name, final->second)};
  }
  const bool is_car =
      answer->status == kOk && !transport::body_of(*answer).empty() && !is_page(*answer);
  if (!is_car) return RequestFailed{failure_message(answer), wait};
  return CarAnswer{};
}

std::string get_repo_url(std::string_view host, std::string_view did,
                         std::optional<atproto::Tid> since) {
  auto url = fmt::format("{}/xrpc/com.atproto.sync.getRepo?did={}", host, query_text(did));
  if (since) url += "&since=" + since->to_string();
  return url;
}

bool is_stop(const ErrorCode& error) {
  return error == documents::errc::stopped || error == transport::errc::http_stopped;
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
  // Compression is refused, because a few compressed bytes could become any number of bytes.
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
