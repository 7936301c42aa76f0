#include "pages/health.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "postgres/migrations.hpp"
#include "postgres/server_clock.hpp"
#include "status/standby_status.hpp"

namespace skua::pages {

namespace {

using TimePoint = Observed::TimePoint;
using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr std::array kJudged{
    "database-down",   "database-read-only", "standby-behind", "disk-full",
    "lock-table-full", "connections-full",   "schema-old",     "schema-new",
    "clock-wrong",     "source-down",        "source-tls",     "source-silent",
    "source-behind",   "cursor-outdated",    "plc-down",       "collection-quiet",
    "dead-letters",    "account-cut-off",    "consumer-stuck", "messages-waiting",
    "bootstrap-open",  "former-tables"};

template <class Duration>
std::string text_of(Duration duration) {
  return duration_text(duration_cast<seconds>(duration));
}

/// Adds the reasons and warnings that follow from the observations.
class Judge {
 public:
  Judge(const Observed& observed, const HealthLimits& limits)
      : observed_(observed), limits_(limits) {}

  Health result() && {
    health_.phase = observed_.process.phase;
    judge_server();
    if (observed_.database) judge_database(*observed_.database);
    judge_clocks();
    for (const pipeline::SourceState& source : observed_.process.sources) judge_source(source);
    judge_directory();
    judge_streams();
    return std::move(health_);
  }

 private:
  /// Each code of the server gets one reason. The first reason is the most precise one.
  void add_once(const Problem& problem, std::string detail) {
    if (!health_.has(problem.code)) add(problem, std::move(detail));
  }
  void add(const Problem& problem, std::string detail, std::string subject = {},
           std::string cure = {}) {
    health_.reasons.push_back({&problem, std::move(detail), std::move(subject), std::move(cure)});
  }
  void warn(const Problem& problem, std::string detail, std::string subject = {},
            std::string cure = {}) {
    health_.warnings.push_back({&problem, std::move(detail), std::move(subject), std::move(cure)});
  }

  void judge_server() {
    if (const auto& outage = observed_.outage) {
      add_once(postgres::problem_of_outage(outage->reason),
               fmt::format("for {}: {}", text_of(outage->lasts), outage->reason));
    }
    if (observed_.unanswered && *observed_.unanswered >= limits_.unanswered) {
      add_once(problem("database-down"),
               fmt::format("no answer for {}", text_of(*observed_.unanswered)));
    }
    for (const postgres::DatabaseProblem& met : observed_.database_problems) {
      // An outage has ended as soon as a session connects, so a stored problem of this kind is
      // ignored.
      if (met.problem == &problem("database-down")) continue;
      if (met.problem == &problem("lock-table-full") && met.last - met.first < limits_.locks) {
        continue;
      }
      // After a promotion the observed state of the server is newer than the stored problem.
      if (met.problem == &problem("database-read-only") && observed_.database) continue;
      add_once(*met.problem, met.detail);
    }
  }

  void judge_database(const DatabaseState& database) {
    if (database.is_read_only && observed_.process.writes) {
      add_once(problem("database-read-only"), "transaction_read_only is on");
    }
    if (database.standby_lag && *database.standby_lag >= limits_.behind) {
      add(problem("standby-behind"), status::standby_text(*database.standby_lag));
    }
    const int known = postgres::schema().version();
    if (const int found = database.schema_version; found != known) {
      add(found < known ? problem("schema-old") : problem("schema-new"),
          fmt::format("the newest migration of the database is {:04}, of this program {:04}", found,
                      known));
    }
    if (database.bootstrap_is_open) add(problem("bootstrap-open"), "indexes are missing");
    for (const DatabaseState::Consumer& consumer : database.stuck_consumers) {
      add(*consumer.judgement.problem,
          fmt::format("{}: {}", consumer.name, consumer.judgement.reason), consumer.name,
          consumer.judgement.cure);
    }
    for (const DatabaseState::Consumer& consumer : database.kept_tables) {
      warn(*consumer.judgement.problem,
           fmt::format("{}: {}", consumer.name, consumer.judgement.reason), consumer.name,
           consumer.judgement.cure);
    }
    if (consumers::is_undrained(database.inbox)) {
      add(problem("messages-waiting"), consumers::inbox_text(database.inbox));
    }
    if (const auto letters = database.dead_letters; letters > 0) {
      warn(problem("dead-letters"), letters < DatabaseState::kMostLetters
                                        ? counted(letters, "dead letter")
                                        : fmt::format("{} or more", letters));
    }
  }

  void judge_clocks() {
    const ProcessState& process = observed_.process;
    if (const auto ahead = process.server_clock_ahead) {
      if (const auto difference = postgres::clock_difference_text(*ahead)) {
        return add(problem("clock-wrong"),
                   fmt::format("the clock of this machine is {} PostgreSQL's", *difference));
      }
    }
    if (process.frames_held > 0) {
      add(problem("clock-wrong"),
          fmt::format("{} held: revisions lie ahead of both clocks",
                      counted(static_cast<std::int64_t>(process.frames_held), "message")));
    }
  }

  void judge_source(const pipeline::SourceState& source) {
    if (source.is_standby) return;
    const auto lasts = observed_.now - source.changed_at;
    const auto silence = observed_.now - source.heard_at;
    const bool is_settled = lasts >= limits_.down;
    if (!source.connected && is_settled) {
      add_down(source, text_of(lasts));
    } else if (silence >= limits_.silent && !source.may_be_silent && !source.waits_for_room &&
               // A silent connection is replaced by a new connection, which does not end the
               // silence.
               (source.problem == &problem("source-silent") || (source.connected && is_settled))) {
      add(problem("source-silent"),
          fmt::format("{}: no message for {}", source.source, text_of(silence)), source.source);
    }
    if (source.lag && *source.lag >= limits_.behind) {
      add(problem("source-behind"),
          fmt::format("{}: the lag is {}", source.source, text_of(*source.lag)), source.source);
    }
    if (source.outdated_at && observed_.now - *source.outdated_at < limits_.remembered) {
      add(problem("cursor-outdated"),
          fmt::format("{}: {} ago", source.source, text_of(observed_.now - *source.outdated_at)),
          source.source);
    }
  }

  void add_down(const pipeline::SourceState& source, const std::string& lasts) {
    const bool is_tls = source.problem == &problem("source-tls");
    add(is_tls ? problem("source-tls") : problem("source-down"),
        fmt::format("{}: no connection for {}{}{}", source.source, lasts,
                    source.failure.empty() ? "" : ": ", source.failure),
        source.source);
  }

  void judge_directory() {
    const ProcessState& process = observed_.process;
    if (const auto failed =
            directory_failure("request", process.directory_failures, process.directory_failed_at)) {
      return add(problem("plc-down"), *failed);
    }
    // The events of all accounts continue without the export, so its failure is only a warning.
    if (const auto failed = directory_failure("export request", process.plc_tail_failures,
                                              process.plc_tail_failed_at)) {
      warn(problem("plc-down"), *failed);
    }
  }

  /// Describes the failures of the directory; returns nothing if the directory answers.
  std::optional<std::string> directory_failure(std::string_view what, std::uint64_t failures,
                                               TimePoint failed_at) const {
    const auto ago = observed_.now - failed_at;
    if (failures < limits_.directory_failures || ago >= limits_.directory) return std::nullopt;
    return fmt::format("{} failed in a row, the last one {} ago",
                       counted(static_cast<std::int64_t>(failures), what), text_of(ago));
  }

  void judge_streams() {
    if (const auto& quiet = observed_.quiet_collections; !quiet.empty()) {
      add(problem("collection-quiet"),
          fmt::format("no events for {}: {}", text_of(limits_.quiet), fmt::join(quiet, ", ")));
    }
    if (observed_.cut_off_at && observed_.now - *observed_.cut_off_at < limits_.remembered) {
      warn(problem("account-cut-off"),
           fmt::format("{}, the last {} ago",
                       counted(static_cast<std::int64_t>(observed_.process.cut_off), "message"),
                       text_of(observed_.now - *observed_.cut_off_at)));
    }
  }

  const Observed& observed_;
  const HealthLimits& limits_;
  Health health_;
};

using Json = nlohmann::ordered_json;

constexpr const char* kLabel = "code";

constexpr MetricInfo kProblem{"", "skua_problem", "",
                              "State of a problem: 1 if /health/ready lists it as a reason or as a "
                              "warning, otherwise 0 (skua help problems)"};

const char* status_of(const Health& health) {
  switch (health.phase) {
    case ProcessState::Phase::Starting:
      return "starting";
    case ProcessState::Phase::Stopping:
      return "stopping";
    case ProcessState::Phase::Running:
      break;
  }
  return health.is_ready() ? "ready" : "not-ready";
}

Json to_json(const std::vector<Reason>& reasons) {
  Json all = Json::array();
  for (const Reason& reason : reasons) {
    all.push_back({{"code", reason.problem->code},
                   {"title", reason.problem->title},
                   {"detail", reason.detail},
                   {"subject", reason.subject.empty() ? Json() : Json(reason.subject)},
                   {"cure", reason.cure.empty() ? reason.problem->cure : reason.cure}});
  }
  return all;
}

// The list has lock-table-full, because the writer logs a full lock table only when it has lasted
// longer.
constexpr std::array kLogged{&problem("lock-table-full"),  &problem("schema-old"),
                             &problem("schema-new"),       &problem("source-behind"),
                             &problem("collection-quiet"), &problem("account-cut-off"),
                             &problem("consumer-stuck"),   &problem("messages-waiting"),
                             &problem("bootstrap-open"),   &problem("former-tables")};

}  // namespace

std::vector<std::string_view> Health::codes() const {
  std::vector<std::string_view> all;
  for (const auto* list : {&reasons, &warnings}) {
    for (const Reason& reason : *list) {
      if (std::ranges::find(all, reason.problem->code) == all.end()) {
        all.push_back(reason.problem->code);
      }
    }
  }
  return all;
}

bool Health::has(std::string_view code) const {
  const std::vector<std::string_view> all = codes();
  return std::ranges::find(all, code) != all.end();
}

Health judge(const Observed& observed, const HealthLimits& limits) {
  return Judge(observed, limits).result();
}

std::vector<const Problem*> judged_problems() {
  std::vector<const Problem*> all;
  for (const Problem& each : kProblems) {
    if (std::ranges::find(kJudged, each.code) != kJudged.end()) all.push_back(&each);
  }
  return all;
}

http_server::Response ready_response(const Health& health) {
  const Json body = {{"status", status_of(health)},
                     {"reasons", to_json(health.reasons)},
                     {"warnings", to_json(health.warnings)}};
  http_server::Response response;
  response.status = health.is_ready() ? 200 : 503;
  // A detail may quote a text of the network, so invalid UTF-8 is replaced.
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

std::vector<status::LabelledMetric> problem_metrics(const Health& health) {
  std::vector<status::LabelledMetric> all;
  for (const Problem* problem : judged_problems()) {
    all.push_back({{kProblem, MetricKind::Gauge, health.has(problem->code)},
                   {{kLabel, std::string(problem->code)}}});
  }
  return all;
}

pipeline::MetricDeclaration problem_metric_declaration() {
  return {kProblem, MetricKind::Gauge, kLabel};
}

ReasonLog::ReasonLog()
    : ReasonLog([](const std::string& line) { logger("health")->warn("{}", line); },
                [](const std::string& line) { logger("health")->info("{}", line); }) {}

void ReasonLog::update(const Health& health, bool is_complete) {
  std::map<Key, std::string> present;
  for (const auto* list : {&health.reasons, &health.warnings}) {
    for (const Reason& reason : *list) {
      if (std::ranges::find(kLogged, reason.problem) == kLogged.end()) continue;
      present.emplace(
          Key(reason.problem->code, reason.subject),
          with_code(fmt::format("{}: {}", reason.problem->title, reason.detail), *reason.problem));
    }
  }
  for (const auto& [key, line] : present) {
    if (logged_.insert(key).second) warn_(line);
  }
  if (!is_complete) return;
  std::erase_if(logged_, [&](const Key& key) {
    if (present.contains(key)) return false;
    const auto& [code, subject] = key;
    info_(fmt::format("ended: {}{}{}", find_problem(code)->title, subject.empty() ? "" : ": ",
                      subject));
    return true;
  });
}

}  // namespace skua::pages
