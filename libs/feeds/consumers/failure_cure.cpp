#include "consumers/failure_cure.hpp"

#include <fmt/format.h>

namespace skua::consumers {

namespace {

/// Tells the operator how to correct the receiver of a webhook.
std::string receiver_cure(const Consumer& consumer, FailureCause cause) {
  const std::string& url = consumer.url;
  const std::string other_url =
      fmt::format("For another URL: `skua consumers set {} --webhook URL`.", consumer.name);
  switch (cause) {
    case FailureCause::Unreachable:
      return fmt::format("Start the receiver of {}, or correct its port or the firewall. {}", url,
                         other_url);
    case FailureCause::Name:
      return fmt::format("Check /etc/resolv.conf and the host name in {}. {}", url, other_url);
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
          "clock. If the secret is lost: `skua consumers set {} --new-secret`.",
          url, consumer.name);
    case FailureCause::Address:
      return fmt::format("Correct the receiver of {}, which does not accept POST there. {}", url,
                         other_url);
    case FailureCause::Busy:
      return fmt::format("Look at the log of the receiver of {}, or of the proxy before it.", url);
    case FailureCause::Expiry:
      return "Look at the log of `skua serve`: the process ended during a request.";
    default:
      return fmt::format("Look at the log of the receiver of {}: it refuses changes.", url);
  }
}

/// Tells what the consumer does after the same change has failed too often.
std::string policy_text(const std::string& policy) {
  if (policy == "skip") return "is left out as a dead letter";
  if (policy == "block_key") return "is a dead letter, and later changes of its account wait";
  return policy == "block_lane" ? "stops its lane" : "stops the consumer";
}

/// Says what happens until the operator has removed the cause.
std::string until_then(const Consumer& consumer, FailureCause cause) {
  const bool is_projection = consumer.kind == "projection";
  const bool counts = cause == FailureCause::Change || cause == FailureCause::Slow ||
                      cause == FailureCause::Expiry ||
                      (is_projection && cause == FailureCause::Tables);
  const std::string retry = fmt::format("`skua consumers resume {}` tries at once.", consumer.name);
  if (!counts) {
    return "Until then the changes wait in the log, and Skua tries again by itself. " + retry;
  }
  return fmt::format(
      "Skua tries again; a change that fails `max_attempts` times {} (policy {}). {}",
      policy_text(consumer.policy), consumer.policy, retry);
}

std::string projection_cure(const Consumer& consumer, FailureCause cause) {
  const std::string until = until_then(consumer, cause);
  if (cause == FailureCause::Lock) {
    return "End the transaction that holds the lock (`select * from pg_stat_activity`). " + until;
  }
  return fmt::format(
      "Remove the cause, such as a missing right, or run `skua consumers rebuild {}`: it builds "
      "the "
      "tables again from the records. {}",
      consumer.name, until);
}

std::string leased_cure(const Consumer& consumer, FailureCause cause) {
  if (cause == FailureCause::Filter) {
    return fmt::format(
        "Give it another filter, such as `skua consumers set {} --collection app.bsky.feed.post`, "
        "or `--no-filter`.",
        consumer.name);
  }
  if (cause == FailureCause::Tables) {
    return "Remove the cause, such as a missing right of the role of `skua serve`.";
  }
  if (consumer.kind == "webhook") return receiver_cure(consumer, cause);
  return cause == FailureCause::Expiry
             ? "Look at the log of the program that fetches the changes: it ended before it "
               "acknowledged them, or it needs a longer lease (`lease_seconds`)."
             : "Look at the log of the program that fetches the changes.";
}

}  // namespace

std::string failure_subject(const Consumer& consumer, FailureCause cause) {
  if (consumer.kind == "projection") return "changes cannot be applied";
  if (cause == FailureCause::Tables || cause == FailureCause::Filter) {
    return "its changes cannot be read";
  }
  if (cause == FailureCause::Expiry) return "changes are not acknowledged";
  return consumer.kind == "pull" ? "its program reports failures" : "deliveries fail";
}

std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane) {
  if (consumer.kind == "projection") return projection_cure(consumer, lane.cause);
  return fmt::format("{} {} To skip all changes that wait: `skua consumers reset {} --from live`.",
                     leased_cure(consumer, lane.cause), until_then(consumer, lane.cause),
                     consumer.name);
}

}  // namespace skua::consumers
