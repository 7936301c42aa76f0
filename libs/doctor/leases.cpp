#include "doctor/leases.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/time.hpp"

namespace skua::doctor {
namespace {

struct LeaseKind {
  std::string_view noun;
  std::string_view cure;
  /// Tables and condition of the leases with an owner; `ends` is the end of a lease.
  std::string_view ends;
  std::string_view from;
};

/// In the order of EndedLeases::Kind.
constexpr std::array kLeaseKinds{
    LeaseKind{"repository of a backfill",
              "Start `skua backfill` or `skua run`: it continues the backfill.", "lease_until",
              "skua.backfill_jobs WHERE state = 'running'"},
    LeaseKind{"list of a backfill",
              "Start `skua backfill` or `skua run`: it continues the backfill.", "next_attempt",
              "skua.backfill_hosts WHERE lease_owner IS NOT NULL"},
    LeaseKind{"replay of a dead letter", "Run `skua dead-letters replay` again.", "lease_until",
              "skua.dead_letter WHERE status = 'replaying'"},
    LeaseKind{"lane of a consumer",
              "Start `skua serve`. If it runs, the program that fetches the changes has stopped.",
              "l.lease_until",
              "skua.consumer_lanes AS l JOIN skua.consumers AS c ON c.id = l.consumer_id "
              "WHERE l.owner IS NOT NULL AND NOT c.paused AND c.role <> 'retired'"},
};

const LeaseKind& kind_of(EndedLeases::Kind kind) {
  return kLeaseKinds.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::vector<EndedLeases> read_ended_leases(store::Session& session,
                                           const std::vector<EndedLeases::Kind>& kinds) {
  std::vector<EndedLeases> all;
  for (const EndedLeases::Kind each : kinds) {
    const LeaseKind& kind = kind_of(each);
    const store::Rows rows = session.run(fmt::format(
        "SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(ends)), 0)::int8 "
        "FROM (SELECT {} AS ends FROM {}) AS leases "
        "WHERE ends < clock_timestamp() - interval '1 minute'",
        kind.ends, kind.from));
    if (rows.int8(0, 0) == 0) continue;
    all.push_back({each, rows.int8(0, 0), std::chrono::seconds(rows.int8(0, 1))});
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
