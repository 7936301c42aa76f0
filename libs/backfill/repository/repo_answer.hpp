#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "atproto/tid.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The body claims to be a CAR; whether it is a whole and honest one is still to be seen.
struct CarAnswer {};

/// The host does not give the repository out. Final: asking again helps only when somebody changes
/// that.
struct RepoUnavailable {
  /// RepoNotFound, RepoTakendown, RepoSuspended or RepoDeactivated.
  std::string reason;
  /// The reason and what it means, for people.
  std::string message;
};

/// What is said of a host that answered 429.
inline const std::string kLimitedText = "the host asked us to wait (429)";

/// The host asks us to come back later: no failure of the repository's.
struct HostLimited {
  /// Nothing when the host does not say.
  std::optional<std::chrono::seconds> wait;
};

/// To be tried again.
struct RequestFailed {
  /// For people: what happened and, where they can do something, what.
  std::string message;
  /// When the host asks for it all the same.
  std::optional<std::chrono::seconds> wait;
};

using RepoAnswer = std::variant<CarAnswer, RepoUnavailable, HostLimited, RequestFailed>;

/// What an answer of com.atproto.sync.getRepo means. Final are only 400 and 404 with one of the
/// four names of errors. Pure; any thread.
RepoAnswer classify_repo_answer(const Result<transport::HttpAnswer>& answer, Timestamp now);

/// What is wrong with an answer that is none of what was hoped for, for people: its status with the
/// name and message of an XRPC error, or the error with what to do about it.
std::string failure_message(const Result<transport::HttpAnswer>& answer);

/// The URL of com.atproto.sync.getRepo at `host`, an origin such as https://pds.example. `since`:
/// only what changed after that revision.
std::string get_repo_url(std::string_view host, std::string_view did,
                         std::optional<atproto::Tid> since);

}  // namespace skua::backfill
