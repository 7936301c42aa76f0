#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "change_feed/change_filter.hpp"
#include "change_feed/position.hpp"
#include "feed/leases/lease.hpp"

namespace skua::change_feed {

enum class PullAction : std::uint8_t { Fetch, Ack, Nack, Renew };

/// The body of a request of `/pull/...` (docs/feeds.md). Everything in it comes from the client.
struct PullRequest {
  PullAction action = PullAction::Fetch;
  std::string consumer;
  /// Of ack, nack and renew, without the consumer.
  feed::LeaseName lease;
  std::chrono::seconds lease_time{60};

  // Of fetch.
  std::int32_t max = 100;
  std::chrono::seconds wait{0};

  /// Of ack: the last processed change. Of nack: the change that failed. Nothing: see there.
  std::optional<Position> position;

  // Of nack.
  std::string error = "refused by the consumer";
  std::optional<std::chrono::seconds> retry;
  bool is_final = false;
};

/// A request, or a message for the client.
Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body);

/// The SHA-256 of the token of a pull consumer, in hexadecimal digits (skua.consumer_secrets).
std::string token_hash(std::string_view token);

/// A lease as the client sees it: an opaque text.
std::string lease_text(const feed::LeaseName& lease);

}  // namespace skua::change_feed
