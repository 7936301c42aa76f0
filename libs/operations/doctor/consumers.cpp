#include "doctor/consumers.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/consumer_judgement.hpp"
#include "doctor/consumers.sql.hpp"

namespace skua::doctor {

namespace {

constexpr double kNearLimit = 0.9;

Finding finding_of(const consumers::Consumer& consumer) {
  using Level = consumers::ConsumerJudgement::Level;
  const consumers::ConsumerJudgement judgement = consumers::judge_consumer(consumer);
  const std::string check = "consumer " + consumer.name;
  if (judgement.level == Level::Works) {
    std::string detail = fmt::format("{}, {} behind", judgement.state,
                                     counted(consumer.behind.value_or(0), "change"));
    if (!judgement.reason.empty()) detail += "; " + judgement.reason;
    return ok(check, detail);
  }
  return judgement.level == Level::Stopped
             ? error(check, *judgement.problem, judgement.reason, judgement.cure)
             : warning(check, *judgement.problem, judgement.reason, judgement.cure);
}

struct LeaseKind {
  std::string_view noun;
  std::string_view cure;
  /// The statement counts the leases of this kind that have ended.
  const postgres::Statement& ended;
};

struct EndedCount {
  std::int64_t count;
  std::chrono::seconds oldest;
};

/// The kinds have the order of EndedLeases::Kind.
constexpr std::array kLeaseKinds{
    LeaseKind{"repository of a backfill",
              "Start `skua backfill` or `skua run`: it continues the backfill.",
              sql::doctor_ended_jobs},
    LeaseKind{"list of a backfill",
              "Start `skua backfill` or `skua run`: it continues the backfill.",
              sql::doctor_ended_lists},
    LeaseKind{"replay of a dead letter", "Run `skua dead-letters replay` again.",
              sql::doctor_ended_letters},
    LeaseKind{"lane of a consumer",
              "Start `skua serve`. If it runs, the program that fetches the changes has stopped.",
              sql::doctor_ended_lanes},
};

const LeaseKind& kind_of(EndedLeases::Kind kind) {
  return kLeaseKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace

Findings judge_consumers(const std::vector<consumers::Consumer>& consumers) {
  if (consumers.empty()) return {ok("consumers", "there are none")};
  Findings findings;
  findings.reserve(consumers.size());
  for (const consumers::Consumer& consumer : consumers) findings.push_back(finding_of(consumer));
  return findings;
}

Finding judge_change_log(const consumers::LogSize& size) {
  const std::string detail = fmt::format("{} of {}", size_text(static_cast<double>(size.bytes)),
                                         size_text(static_cast<double>(size.max_bytes)));
  const bool is_near =
      static_cast<double>(size.bytes) >= kNearLimit * static_cast<double>(size.max_bytes);
  return is_near ? warning("change log", problem("change-log-large"), detail)
                 : ok("change log", detail);
}

Finding judge_inbox(const consumers::InboxState& inbox) {
  const std::string detail = consumers::inbox_text(inbox);
  return consumers::is_undrained(inbox) ? error("messages", problem("messages-waiting"), detail)
                                        : ok("messages", detail);
}

std::vector<EndedLeases> read_ended_leases(postgres::Session& session,
                                           const std::vector<EndedLeases::Kind>& kinds) {
  std::vector<EndedLeases> all;
  for (const EndedLeases::Kind each : kinds) {
    const auto [count, oldest] = session.query_one<EndedCount>(kind_of(each).ended);
    if (count > 0) all.push_back({each, count, oldest});
  }
  return all;
}

Findings judge_leases(const std::vector<EndedLeases>& ended) {
  Findings findings;
  for (const EndedLeases& leases : ended) {
    const LeaseKind& kind = kind_of(leases.kind);
    findings.push_back(warning("leases", problem("lease-stuck"),
                               fmt::format("{} x {}: the oldest lease ended {} ago", leases.count,
                                           kind.noun, duration_text(leases.oldest)),
                               std::string(kind.cure)));
  }
  return findings;
}

Finding judge_bootstrap(std::size_t missing) {
  if (missing == 0) return ok("bootstrap", "none is open");
  return error("bootstrap", problem("bootstrap-open"),
               fmt::format("{} must still be built; `skua run` refuses to start",
                           counted(static_cast<std::int64_t>(missing), "index")));
}

}  // namespace skua::doctor
