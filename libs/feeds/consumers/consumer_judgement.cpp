#include "consumers/consumer_judgement.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/failure_cure.hpp"
#include "consumers/projections/projection.hpp"

namespace skua::consumers {

namespace {

using Level = ConsumerJudgement::Level;
using std::chrono::milliseconds;

constexpr std::size_t kLongestError = 300;

std::string with_error(const std::string& what, const std::string& error) {
  return error.empty() ? what : fmt::format("{}: {}", what, printable(error, kLongestError));
}

std::string text_of(milliseconds duration) {
  return duration_text(std::chrono::floor<std::chrono::seconds>(duration));
}

/// Broken tables and a malformed filter do not recover without an operator, so a lane with such a
/// cause fails at once.
bool needs_operator(const ConsumerLane& lane) {
  return lane.cause == FailureCause::Tables || lane.cause == FailureCause::Filter;
}

class Judge {
 public:
  Judge(const Consumer& consumer, const ConsumerLimits& limits)
      : consumer_(consumer), limits_(limits), name_(consumer.name) {}

  /// The order of the checks matters: the first check that finds a state decides the judgement.
  ConsumerJudgement result() {
    using Check = bool (Judge::*)();
    constexpr Check kChecks[] = {&Judge::keeps_tables,         &Judge::has_stopped,
                                 &Judge::has_lagged_out,       &Judge::is_paused,
                                 &Judge::failed_to_build,      &Judge::is_blocked,
                                 &Judge::has_bootstrap,        &Judge::is_unserved,
                                 &Judge::is_failing,           &Judge::failed_upkeep,
                                 &Judge::is_not_fetched,       &Judge::is_behind,
                                 &Judge::has_waiting_accounts, &Judge::is_retrying};
    for (const Check check : kChecks) {
      if ((this->*check)()) return std::move(judgement_);
    }
    return {.state = working_state()};
  }

 private:
  bool found(Level level, std::string state, const Problem& problem, std::string reason,
             std::string cure) {
    judgement_ = {level, std::move(state), &problem, std::move(reason), std::move(cure)};
    return true;
  }
  bool stuck(std::string state, std::string reason, std::string cure) {
    return found(Level::Stuck, std::move(state), problem("consumer-stuck"), std::move(reason),
                 std::move(cure));
  }

  bool is_projection() const { return consumer_.kind == "projection"; }
  bool is_filling() const { return consumer_.state == "filling"; }
  milliseconds lag() const { return consumer_.lag.value_or(milliseconds(0)); }
  /// Returns how long the oldest change has waited for the consumer; while the tables are built,
  /// the age of the consumer.
  milliseconds waits_for() const { return is_filling() ? consumer_.age : lag(); }

  /// A rebuild runs beside the live consumer of the same name.
  std::string working_state() const {
    if (consumer_.role == "next" && !is_filling()) return "catching up";
    return is_filling() ? "building" : consumer_.state;
  }

  /// Returns true for a retired consumer. Only a consumer whose tables cannot be dropped is judged.
  bool keeps_tables() {
    if (consumer_.role != "retired") return false;
    const std::string cure =
        consumer_.dependents.empty()
            ? "Remove the cause."
            : fmt::format("Run `{}`, or let them read bsky.{}.", consumer_.dependents, name_);
    return found(Level::Notice, "not dropped", problem("former-tables"),
                 printable(consumer_.error, kLongestError),
                 cure + " Skua tries again every minute by itself.");
  }

  bool has_stopped() {
    if (consumer_.state != "stopped") return false;
    std::string reason = with_error("stopped after a failure", consumer_.error);
    if (is_replaced(consumer_.state, reason)) return true;
    if (is_projection() && !consumer_.is_own && find_projection(name_) == nullptr) {
      return found(Level::Stopped, "stopped", problem("consumer-stuck"), std::move(reason),
                   fmt::format("Use the version of Skua that has it, or remove it: `skua consumers "
                               "remove {}`.",
                               name_));
    }
    return found(Level::Stopped, "stopped", problem("consumer-stuck"), std::move(reason),
                 continue_cure() + (is_projection() ? " " + rebuild_cure() : ""));
  }

  bool has_lagged_out() {
    if (consumer_.state != "lagged out") return false;
    std::string reason = "the change log dropped changes that it had not read";
    if (is_replaced(consumer_.state, reason)) return true;
    return found(Level::Stopped, "lagged out", problem("consumer-stuck"), std::move(reason),
                 is_projection()
                     ? fmt::format("Run `skua consumers rebuild {}`.", name_)
                     : fmt::format("Run `skua consumers reset {} --from oldest`: it reads the "
                                   "changes that are left. The others are lost for it.",
                                   name_));
  }

  /// Returns true if a rebuild is under way: the operator then needs to do nothing, because the new
  /// tables replace the present ones.
  bool is_replaced(const std::string& state, const std::string& reason) {
    if (!consumer_.has_successor) return false;
    return stuck(state, reason + "; its tables are built again",
                 "Wait: the new tables replace the present ones when they are complete.");
  }

  bool is_paused() {
    if (!consumer_.paused) return false;
    return stuck("paused", "it is paused", fmt::format("Run `skua consumers resume {}`.", name_));
  }

  bool failed_to_build() {
    if (!is_filling() || consumer_.error.empty()) return false;
    return stuck(
        "building", with_error("its tables were not built", consumer_.error),
        fmt::format("Remove the cause: Skua tries again by itself, and at once after `skua "
                    "consumers resume {0}`. `skua consumers remove {0}` gives it up.",
                    name_));
  }

  /// Returns true if the upkeep failed: the tables cannot be exchanged, or cannot be compared with
  /// the records.
  bool failed_upkeep() {
    if (consumer_.state != "running" || consumer_.error.empty()) return false;
    const std::string reason = printable(consumer_.error, kLongestError);
    if (is_replaced("failing", reason)) return true;
    return stuck("failing", reason,
                 fmt::format("Remove the cause: Skua tries again by itself. {}", rebuild_cure()));
  }

  std::string rebuild_cure() const {
    return fmt::format("`skua consumers rebuild {}` builds its tables from the records instead.",
                       name_);
  }

  bool is_blocked() {
    const ConsumerLane* const lane = blocked_lane();
    if (lane == nullptr) return false;
    const std::string reason =
        with_error(fmt::format("a failed change blocks lane {}", lane->lane), lane->error);
    if (is_replaced("blocked", reason)) return true;
    return stuck("blocked", reason,
                 continue_cure() + (is_projection() ? " " + rebuild_cure() : ""));
  }

  /// Returns null if no lane is blocked. The consumer is also stopped under the policy pause.
  const ConsumerLane* blocked_lane() const {
    const auto lane = std::ranges::find_if(consumer_.lanes, &ConsumerLane::is_blocked);
    return lane == consumer_.lanes.end() ? nullptr : &*lane;
  }

  /// Tells the operator how to continue a consumer or lane that a failed change stopped.
  std::string continue_cure() const {
    std::string cure =
        fmt::format("Remove the cause, then run `skua consumers reset {}`: it tries again.", name_);
    const ConsumerLane* const lane = blocked_lane();
    if (lane == nullptr || lane->attempts == 0) return cure;
    return cure + fmt::format(
                      " `skua consumers reset {} --skip {}` continues after the change, which "
                      "becomes a dead letter.",
                      name_, lane->pos);
  }

  bool has_bootstrap() {
    if (!consumer_.waits_for_bootstrap) return false;
    return found(Level::Notice, "waiting", problem("bootstrap-open"),
                 "it reads no changes while a bootstrap is open", {});
  }

  bool is_unserved() {
    if (consumer_.is_served) return false;
    std::string reason = "no process delivers changes";
    if (is_projection()) reason = "no process keeps projections up to date";
    if (consumer_.kind == "pull") reason = "no process answers its program";
    if (consumer_.behind.value_or(0) > 0) {
      reason += fmt::format("; {} wait, the oldest for {}", counted(*consumer_.behind, "change"),
                            text_of(lag()));
    }
    std::string cure = is_projection()
                           ? "Start `skua consumers run`, or `skua run` with `--consumer-threads` "
                             "of 1 or more, or "
                             "`skua serve --consumers`. "
                             "`skua consumers run-until-idle` does the work once."
                           : "Start `skua serve` with a role that may write (skua_writer).";
    const Level level = waits_for() >= limits_.failing ? Level::Stuck : Level::Notice;
    return found(level, "not served", problem("consumer-stuck"), std::move(reason),
                 std::move(cure));
  }

  bool is_failing() {
    const ConsumerLane* const lane = failing_lane(consumer_);
    if (lane == nullptr) return false;
    const bool is_broken = needs_operator(*lane);
    if (!is_broken && lane->failing_for < limits_.failing) return false;
    const std::string reason = failure_text(*lane);
    if (is_broken && is_replaced("failing", reason)) return true;
    return stuck("failing", reason, failure_cure(consumer_, *lane));
  }

  /// Returns true if a lane has a failure that may pass without an operator.
  bool is_retrying() {
    const ConsumerLane* const lane = failing_lane(consumer_);
    if (lane == nullptr) return false;
    judgement_ = {Level::Works, working_state(), nullptr, failure_text(*lane),
                  failure_cure(consumer_, *lane)};
    return true;
  }

  std::string failure_text(const ConsumerLane& lane) const {
    constexpr std::size_t kSeconds = 19;
    // The error comes first, because a table may cut the end of the text.
    return fmt::format(
        "{} ({} since {}Z, {})", with_error(failure_subject(consumer_, lane.cause), lane.error),
        counted(failures_in_a_row(consumer_), "failure"),
        format_datetime(*lane.failing_since).substr(0, kSeconds), text_of(lane.failing_for));
  }

  bool is_not_fetched() {
    if (consumer_.kind != "pull" || lag() < limits_.failing) return false;
    if (std::ranges::any_of(consumer_.lanes, &ConsumerLane::is_leased)) return false;
    const bool is_abandoned = std::ranges::any_of(consumer_.lanes, &ConsumerLane::is_abandoned);
    if (!is_abandoned && lag() < limits_.behind) return false;
    return found(
        Level::Notice, "not fetched", problem("consumer-behind"),
        fmt::format("{} {}, the oldest for {}",
                    is_abandoned ? "its program has not acknowledged its last changes, and "
                                   "fetches no more;"
                                 : "no program fetches its changes;",
                    counted(consumer_.behind.value_or(0), "change") + " wait", text_of(lag())),
        "Start the program that fetches its changes, or look at its log.");
  }

  bool is_behind() {
    if (lag() < limits_.behind) return false;
    return found(Level::Notice, working_state(), problem("consumer-behind"),
                 fmt::format("{} behind, {}", counted(consumer_.behind.value_or(0), "change"),
                             text_of(lag())),
                 {});
  }

  bool has_waiting_accounts() {
    std::int64_t waiting = 0;
    for (const ConsumerLane& lane : consumer_.lanes) waiting += lane.waiting_accounts;
    if (waiting == 0) return false;
    return found(Level::Notice, working_state(), problem("dead-letters"),
                 fmt::format("changes of {} wait for dead letters", counted(waiting, "account")),
                 fmt::format("Replay, resolve or discard the dead letters: `skua dead-letters list "
                             "--consumer {}`.",
                             name_));
  }

  const Consumer& consumer_;
  const ConsumerLimits& limits_;
  const std::string& name_;
  ConsumerJudgement judgement_;
};

}  // namespace

ConsumerJudgement judge_consumer(const Consumer& consumer, const ConsumerLimits& limits) {
  return Judge(consumer, limits).result();
}

const ConsumerLane* failing_lane(const Consumer& consumer) {
  const auto order = [](const ConsumerLane& lane) {
    return std::pair(needs_operator(lane), lane.failing_for);
  };
  const ConsumerLane* found = nullptr;
  for (const ConsumerLane& lane : consumer.lanes) {
    if (!lane.failing_since) continue;
    if (found == nullptr || order(lane) > order(*found)) found = &lane;
  }
  return found;
}

std::int64_t failures_in_a_row(const Consumer& consumer) {
  std::int64_t failures = 0;
  for (const ConsumerLane& lane : consumer.lanes) failures += lane.failures;
  return failures;
}

}  // namespace skua::consumers
