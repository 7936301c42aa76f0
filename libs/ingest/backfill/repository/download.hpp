#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "atproto/tid.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "backfill/repository/held_car.hpp"
#include "backfill/repository/job_runner.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The body has the type of a CAR, but is not checked yet.
struct CarAnswer {};

/// The host does not provide the repository. This is final: another request has the same result
/// until the host or the account changes.
struct RepoUnavailable {
  /// RepoNotFound, RepoTakendown, RepoSuspended or RepoDeactivated.
  std::string reason;
  /// The reason and its meaning, for the log.
  std::string message;
};

/// The error of a job whose host answered 429.
inline const std::string kLimitedText = "the host asked us to wait (429)";

/// The host asks us to wait. This is not a failure of the repository.
struct HostLimited {
  /// The time to wait, or nothing if the host states no time.
  std::optional<std::chrono::seconds> wait;
};

/// The request failed and is repeated.
struct RequestFailed {
  /// Describes the failure for the log and, where possible, what the operator can do.
  std::string message;
  /// The time that the host asks us to wait, if it states one.
  std::optional<std::chrono::seconds> wait;
};

using RepoAnswer = std::variant<CarAnswer, RepoUnavailable, HostLimited, RequestFailed>;

/// Classifies an answer of com.atproto.sync.getRepo. Only 400 and 404 with one of the four error
/// names are final. The function is pure.
RepoAnswer classify_repo_answer(const Result<transport::HttpAnswer>& answer, Timestamp now);

/// Describes an unexpected answer for the log: its status with the name and message of an XRPC
/// error, or the error with what to do about it.
std::string failure_message(const Result<transport::HttpAnswer>& answer);

/// Returns the URL of com.atproto.sync.getRepo at `host`, an origin such as https://pds.example.
/// With `since`, the URL requests only the changes after that revision.
std::string get_repo_url(std::string_view host, std::string_view did,
                         std::optional<atproto::Tid> since);

/// Whether an operation ended because this process stops (JobStopped).
bool is_stop(const ErrorCode& error);

/// Makes a counter of the bytes of a CAR. `site` is the site of its host (site_of_origin). It is
/// empty for a file.
std::shared_ptr<HeldCar> held_car(const JobServices& services, std::string site);

/// Returns the request for a job's repository. `held` counts the bytes of the repository.
transport::HttpRequest repository_request(const JobServices& services,
                                          const FetchedRepository& fetched,
                                          std::shared_ptr<HeldCar> held);

/// Returns the end of the job if the answer is not a CAR, otherwise nothing. The function is pure.
std::optional<JobEnd> end_without_car(const std::string& host,
                                      const Result<transport::HttpAnswer>& answer, Timestamp now);

/// Stores a downloaded CAR in `fetched`.
void keep_answer(FetchedRepository& fetched, transport::HttpAnswer answer,
                 const std::shared_ptr<HeldCar>& held);

/// Maps the job's file into `fetched`. Returns the reason of a failure, or an empty text after a
/// success.
std::string map_car_file(FetchedRepository& fetched, const std::shared_ptr<HeldCar>& held);

}  // namespace skua::backfill
