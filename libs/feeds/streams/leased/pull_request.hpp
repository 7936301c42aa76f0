#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/leases/lease.hpp"
#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"

namespace skua::streams {

enum class PullAction : std::uint8_t { Fetch, Ack, Nack, Renew };

/// The reason of a failure or rejection, if the client gives none.
inline constexpr const char* kRefused = "refused by the consumer";

/// The body of a request of `/pull/...` (docs/feeds.md). The client controls all values.
struct PullRequest {
  PullAction action = PullAction::Fetch;
  std::string consumer;
  /// The node of the batch of an ack, nack or renew; empty if the server serves one database.
  std::string node = {};
  /// The lease of an ack, nack or renew, without the consumer.
  consumers::LeaseName lease;
  /// The last change of the batch. Changes of the lease after it do not pass the filter.
  std::int64_t last_change = 0;
  /// Nothing for the time of the tuning profile.
  std::optional<std::chrono::seconds> lease_time;

  // The following members belong to a fetch.
  std::int32_t max = 100;
  std::chrono::seconds wait{0};

  /// In an ack, the last processed change; without a value the ack covers the whole lease. In a
  /// nack, the change that failed; without a value the failed change is unknown.
  std::optional<Position> position;

  /// A change that an ack excludes, with the reason.
  struct Rejected {
    Position position;
    std::string error;
  };
  std::vector<Rejected> rejected = {};

  // The following members belong to a nack.
  std::string error = kRefused;
  std::optional<std::chrono::seconds> retry;
  bool is_final = false;
};

/// Parses the body of a request. Returns a message for the client if the body is invalid.
Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body);

/// Returns the SHA-256 of the token of a pull consumer in hexadecimal digits, as in
/// skua.consumer_secrets.
std::string token_hash(std::string_view token);

/// Returns the opaque text by which a client names a lease.
std::string lease_text(const consumers::LeaseName& lease, std::int64_t last_change);

}  // namespace skua::streams
