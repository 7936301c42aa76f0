#include "feed/consumers/failure_cure.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace skua::feed {
namespace {

/// The commands that give a webhook another URL or another secret.
std::string add_again(const Consumer& consumer) {
  std::int64_t first = consumer.lanes.front().pos;
  for (const ConsumerLane& lane : consumer.lanes) first = std::min(first, lane.pos);
  return fmt::format(
      "`skua consumers remove {0}`, then `skua consumers add {0} --webhook URL --from {1}` with "
      "its "
      "other options",
      consumer.name, first);
}

/// Tells the operator how to correct the receiver.
std::string receiver_cure(const Consumer& consumer, FailureCause cause) {
  const std::string& url = consumer.url;
  switch (cause) {
    case FailureCause::Unreachable:
      return fmt::format(
          "Start the receiver of {}, or correct its port or the firewall. For another URL: {}.",
          url, add_again(consumer));
    case FailureCause::Name:
      return fmt::format("Check /etc/resolv.conf and the host name in {}. For another URL: {}.",
                         url, add_again(consumer));
    case FailureCause::Tls:
      return fmt::format(
          "Renew the certificate of {}, or name a file with it: `skua serve --ca-file FILE`.", url);
    case FailureCause::Slow:
      return fmt::format(
          "Look at the log of the receiver of {}. If it needs more time: `skua serve "
          "--webhook-timeout DURATION`.",
          url);
    case FailureCause::Refused:
      return fmt::format(
          "Give the receiver of {} the secret that `skua consumers add` printed, and check its "
          "clock. If the secret is lost, make another one: {}.",
          url, add_again(consumer));
    case FailureCause::Address:
      return fmt::format(
          "Correct the receiver of {}, which does not accept POST there. For "
          "another URL: {}.",
          url, add_again(consumer));
    case FailureCause::Busy:
      return fmt::format("Look at the log of the receiver of {}, or of the proxy before it.", url);
    case FailureCause::Change:
    case FailureCause::Tables:
    case FailureCause::Lock:
      break;
  }
  return fmt::format("Look at the log of the receiver of {}: it refuses changes.", url);
}

/// Tells what the consumer does after the same change has failed too often.
std::string policy_text(const Consumer& consumer) {
  const std::string& policy = consumer.policy;
  if (policy == "skip") return "is left out as a dead letter";
  if (policy == "block_key") {
    return "is a dead letter, and later changes of its account wait";
  }
  return policy == "block_lane" ? "stops its lane" : "stops the consumer";
}

}  // namespace

std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane) {
  const bool counts = lane.cause == FailureCause::Change || lane.cause == FailureCause::Slow;
  const std::string until =
      counts
          ? fmt::format(
                "Skua tries again; a change that fails `max_attempts` times {} (policy {}).",
                policy_text(consumer), consumer.policy)
          : "Until then the changes wait in the log, and Skua tries again at least once a minute.";
  if (lane.cause == FailureCause::Tables) {
    std::string cure = "Remove the cause, such as a missing right: Skua tries again by itself.";
    if (consumer.kind == "projection") {
      cure +=
          fmt::format(" `skua consumers rebuild {}` builds its tables from the records instead.",
                      consumer.name);
    }
    return cure;
  }
  if (consumer.kind == "projection") {
    return "Look at the error: it may be the disk, a right or a lock. " + until;
  }
  const std::string cure = consumer.kind == "webhook"
                               ? receiver_cure(consumer, lane.cause)
                               : "Look at the log of the program that fetches the changes.";
  return fmt::format("{} {} To skip all changes that wait: `skua consumers reset {} --from live`.",
                     cure, until, consumer.name);
}

}  // namespace skua::feed
