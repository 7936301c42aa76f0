#include "doctor/consumers.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/size_text.hpp"
#include "base/time.hpp"
#include "base/utf8.hpp"

namespace skua::doctor {
namespace {

constexpr std::chrono::minutes kLagsFrom{10};
constexpr double kNearLimit = 0.9;
constexpr std::size_t kLongestError = 200;

Finding stuck(const feed::Consumer& consumer, const std::string& detail, const std::string& cure,
              bool is_error = false) {
  const std::string check = "consumer " + consumer.name;
  return is_error ? error(check, problem("consumer-stuck"), detail, cure)
                  : warning(check, problem("consumer-stuck"), detail, cure);
}

std::string with_error(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : fmt::format("{}: {}", what, printable(reason, kLongestError));
}

/// The most serious state of a consumer.
Finding judge_consumer(const feed::Consumer& consumer) {
  const std::string& name = consumer.name;
  if (consumer.state == "stopped") {
    return stuck(
        consumer, with_error("stopped after a failure", consumer.error),
        fmt::format("`skua consumers reset {}` continues it; `rebuild` builds a projection "
                    "again.",
                    name),
        true);
  }
  if (consumer.state == "lagged out") {
    const std::string cure =
        consumer.kind == "projection"
            ? fmt::format("Run `skua consumers rebuild {}`.", name)
            : fmt::format(
                  "Run `skua consumers reset {} --from oldest`: it reads the changes that "
                  "are left.",
                  name);
    return stuck(consumer, "the change log dropped changes that it had not read", cure, true);
  }
  if (consumer.state == "filling" && !consumer.error.empty()) {
    return stuck(consumer, with_error("not built", consumer.error), {});
  }
  if (consumer.paused) {
    return stuck(consumer, "paused", fmt::format("Run `skua consumers resume {}`.", name));
  }
  const auto blocked = std::ranges::find_if(consumer.lanes, &feed::ConsumerLane::is_blocked);
  if (blocked != consumer.lanes.end()) {
    return stuck(consumer,
                 with_error(fmt::format("lane {} is blocked", blocked->lane), blocked->error),
                 fmt::format("`skua consumers reset {}` continues it.", name));
  }
  const auto failing = std::ranges::find_if(
      consumer.lanes, [](const feed::ConsumerLane& lane) { return lane.attempts > 0; });
  const auto lag =
      std::chrono::floor<std::chrono::seconds>(consumer.lag.value_or(std::chrono::milliseconds(0)));
  if (lag >= kLagsFrom) {
    const std::string detail = fmt::format(
        "{} behind, {}", counted(consumer.behind.value_or(0), "change"), duration_text(lag));
    return failing == consumer.lanes.end()
               ? stuck(consumer, detail,
                       "Start `skua run`, or `skua serve` for a webhook. A pull consumer waits for "
                       "its program. Otherwise wait: it may be catching up.")
               : stuck(consumer, with_error(detail, failing->error), {});
  }
  std::int64_t waiting = 0;
  for (const feed::ConsumerLane& lane : consumer.lanes) waiting += lane.waiting_accounts;
  if (waiting > 0) {
    return stuck(consumer,
                 fmt::format("changes of {} wait for dead letters", counted(waiting, "account")),
                 "Replay or resolve the dead letters (`skua dead-letters list`).");
  }
  return ok("consumer " + name,
            fmt::format("{}, {} behind", consumer.state == "filling" ? "building" : consumer.state,
                        counted(consumer.behind.value_or(0), "change")));
}

}  // namespace

Findings judge_consumers(const std::vector<feed::Consumer>& consumers) {
  if (consumers.empty()) return {ok("consumers", "there are none")};
  Findings findings;
  findings.reserve(consumers.size());
  for (const feed::Consumer& consumer : consumers) findings.push_back(judge_consumer(consumer));
  return findings;
}

Finding judge_change_log(const feed::LogSize& size) {
  const std::string detail = fmt::format("{} of {}", size_text(static_cast<double>(size.bytes)),
                                         size_text(static_cast<double>(size.max_bytes)));
  const bool is_near =
      static_cast<double>(size.bytes) >= kNearLimit * static_cast<double>(size.max_bytes);
  return is_near ? warning("change log", problem("change-log-large"), detail)
                 : ok("change log", detail);
}

}  // namespace skua::doctor
