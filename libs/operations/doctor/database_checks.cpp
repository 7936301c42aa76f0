#include "doctor/database_checks.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "base/text.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "doctor/consumers.hpp"
#include "doctor/cursors.hpp"
#include "doctor/roles.hpp"
#include "doctor/schema.hpp"
#include "doctor/server.hpp"
#include "doctor/unfinished.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/locks.hpp"
#include "postgres/outage.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "postgres/table_layout.hpp"
#include "tables/account_groups.hpp"
#include "tables/network_nodes.hpp"

namespace skua::doctor {

struct DatabaseChecks::Shared {
  Shared(DatabaseOptions with, const Clock& its_clock)
      : options(std::move(with)), clock(its_clock) {}

  const DatabaseOptions options;
  const Clock& clock;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  DatabaseFindings found;
  /// After this request no further check begins, because the caller no longer waits.
  std::stop_source abandoned;

  void add(Findings findings) {
    const std::scoped_lock lock(mutex);
    std::ranges::move(findings, std::back_inserter(found.findings));
  }
};

namespace {

/// A group of checks that share one observation.
struct DatabaseCheck {
  const char* name;
  Findings (*run)(postgres::Session& session);
};

/// These checks work with any database.
constexpr std::array kServerChecks{
    DatabaseCheck{"settings",
                  [](postgres::Session& session) {
                    return Findings{judge_server_settings(read_server_settings(session))};
                  }},
    DatabaseCheck{"replication",
                  [](postgres::Session& session) {
                    return judge_replication_slots(read_replication_slots(session));
                  }},
    DatabaseCheck{
        "disk",
        [](postgres::Session& session) { return Findings{judge_disk(read_disk(session))}; }},
    DatabaseCheck{
        "role",
        [](postgres::Session& session) { return Findings{judge_role(read_role(session))}; }},
};

/// These checks need the schema of this program.
constexpr std::array kSchemaChecks{
    DatabaseCheck{
        "reader role",
        [](postgres::Session& session) { return judge_reader_role(read_reader_role(session)); }},
    DatabaseCheck{"tables",
                  [](postgres::Session& session) {
                    return Findings{judge_table_layout(postgres::table_layout_problem(session))};
                  }},
    DatabaseCheck{"groups",
                  [](postgres::Session& session) {
                    const auto owned = tables::load_account_groups(session).owned;
                    if (owned.has_all()) return Findings{};
                    return Findings{ok("groups", "of accounts: " + owned.text())};
                  }},
    DatabaseCheck{"indexes",
                  [](postgres::Session& session) {
                    return judge_indexes(parse_indexes(schema_indexes()), read_indexes(session));
                  }},
    DatabaseCheck{"bootstrap",
                  [](postgres::Session& session) {
                    return Findings{judge_bootstrap(backfill::missing_indexes(session))};
                  }},
    DatabaseCheck{
        "sources",
        [](postgres::Session& session) { return judge_sources(read_sources_found(session)); }},
    DatabaseCheck{"PLC identities",
                  [](postgres::Session& session) {
                    return judge_plc_cursor(read_plc_cursor_found(session));
                  }},
    DatabaseCheck{
        "leases",
        [](postgres::Session& session) {
          using Kind = EndedLeases::Kind;
          return judge_leases(read_ended_leases(session, {Kind::Jobs, Kind::Lists, Kind::Lanes}));
        }},
    // The role skua_reader may not read this table.
    DatabaseCheck{"replays",
                  [](postgres::Session& session) {
                    return judge_leases(read_ended_leases(session, {EndedLeases::Kind::Letters}));
                  }},
    DatabaseCheck{"consumers",
                  [](postgres::Session& session) {
                    return judge_consumers(consumers::read_all_consumers(session));
                  }},
    DatabaseCheck{"change log",
                  [](postgres::Session& session) {
                    return Findings{judge_change_log(consumers::read_log_size(session))};
                  }},
    DatabaseCheck{"messages",
                  [](postgres::Session& session) {
                    return Findings{judge_inbox(consumers::read_inbox(session))};
                  }},
    DatabaseCheck{"dead letters",
                  [](postgres::Session& session) {
                    constexpr std::size_t kReasons = 3;
                    return Findings{judge_letters(tables::read_letter_reasons(session, kReasons))};
                  }},
    DatabaseCheck{"repositories",
                  [](postgres::Session& session) {
                    return Findings{judge_repositories(status::repository_counts(session))};
                  }},
};

/// Judges the nodes of a query database, whose tables have no rows of their own.
Findings judge_nodes(postgres::Session& session) {
  Findings findings;
  std::size_t count = 0;
  for (const auto& [node, failure] : tables::check_nodes(session)) {
    ++count;
    if (failure.empty()) continue;
    findings.push_back(error("node:" + node.name, problem("node-failed"), failure));
  }
  if (const auto groups = tables::missing_groups(session)) {
    findings.push_back(error("nodes", problem("groups-missing"),
                             fmt::format("no node owns the groups {}", *groups)));
  }
  if (findings.empty()) {
    const auto move = tables::move_under_way(session);
    findings.push_back(
        ok("nodes", fmt::format("{} own all groups of accounts{}", counted(count, "node"),
                                move ? "; " + move->text() : "")));
  }
  return findings;
}

/// Returns the problem of the server that an error shows; `other` if it shows none.
const Problem& problem_of(const std::exception& failure, const Problem& other) {
  const auto* const error = dynamic_cast<const postgres::SqlError*>(&failure);
  const Problem* const found = error == nullptr ? nullptr : postgres::problem_of(*error);
  return found == nullptr ? other : *found;
}

Finding failed_check(const std::string& name, const std::exception& failure) {
  return warning(name, problem_of(failure, problem("check-failed")), failure.what());
}

/// Runs all checks once.
class DatabaseRun {
 public:
  DatabaseRun(const DatabaseOptions& options, std::stop_token stop,
              std::function<void(Findings)> add)
      : options_(options), stop_(std::move(stop)), add_(std::move(add)) {}

  /// Runs the checks. `set` receives the results that other checks need.
  void run(const Clock& clock, const std::function<void(DatabaseFindings)>& set) {
    connect();
    check("server",
          [&] { return judge_server(postgres::read_server_facts(*session_), options_.needs); });
    bool is_pooled = false;
    check("connection", [&] {
      const auto pooling = postgres::pooling_problem(*session_, options_.url);
      is_pooled = pooling.has_value();
      return Findings{judge_pooling(pooling)};
    });
    // A pooler mixes the settings and prepared statements of sessions, so all further checks would
    // fail.
    if (is_pooled) {
      add_({skipped("tables",
                    "the checks of settings, disk, role and tables were not made: the "
                    "pooler mixes sessions")});
      return;
    }
    check("clocks", [&] {
      const auto ahead = read_server_ahead(*session_, clock);
      set({.findings = {},
           .server_ahead = ahead,
           .source_reader = postgres::any_source_owner(*session_)});
      return Findings{};
    });
    for (const DatabaseCheck& each : kServerChecks) {
      check(each.name, [&] { return each.run(*session_); });
    }
    bool is_current = false;
    check("schema", [&] {
      const SchemaState state = read_schema_state(*session_);
      is_current = state.kind == SchemaState::Kind::Current;
      return Findings{judge_schema(state)};
    });
    // The tables of another schema version may have other columns.
    if (!is_current) {
      add_({skipped("tables",
                    "the checks of tables were not made: the schema is not that of this "
                    "program")});
      return;
    }
    if (postgres::is_query_database(*session_)) {
      check("nodes", [&] { return judge_nodes(*session_); });
      return;
    }
    for (const DatabaseCheck& each : kSchemaChecks) {
      check(each.name, [&] { return each.run(*session_); });
    }
  }

 private:
  void connect() {
    session_ =
        std::make_unique<postgres::Session>(options_.url, postgres::process_name("skua doctor"));
    session_->limit_lock_waits(options_.limit / 10);
    // Look-ups by key disable some plans; the reports of this session need all plans.
    session_->run(
        fmt::format("SET statement_timeout = {}; RESET enable_seqscan; RESET enable_hashjoin; "
                    "RESET enable_mergejoin; SET default_transaction_read_only = on",
                    (options_.limit / 3).count()));
  }

  /// Runs a check, and turns its failure into a finding. Throws postgres::SqlError if the server
  /// has gone.
  template <class F>
  void check(const std::string& name, F&& work) {
    if (stop_.stop_requested()) return;
    try {
      add_(work());
    } catch (const std::exception& failure) {
      add_({failed_check(name, failure)});
      if (!session_->connected()) connect();
    }
  }

  const DatabaseOptions& options_;
  const std::stop_token stop_;
  const std::function<void(Findings)> add_;
  std::unique_ptr<postgres::Session> session_;
};

}  // namespace

DatabaseChecks::DatabaseChecks(DatabaseOptions options, const Clock& clock)
    : shared_(std::make_shared<Shared>(std::move(options), clock)),
      deadline_(std::chrono::steady_clock::now() + shared_->options.limit) {
  std::thread([shared = shared_] {
    try {
      DatabaseRun run(shared->options, shared->abandoned.get_token(),
                      [&](Findings findings) { shared->add(std::move(findings)); });
      run.run(shared->clock, [&](DatabaseFindings found) {
        const std::scoped_lock lock(shared->mutex);
        shared->found.server_ahead = found.server_ahead;
        shared->found.source_reader = std::move(found.source_reader);
      });
    } catch (const std::exception& failure) {
      shared->add(
          {error("database", problem_of(failure, problem("database-down")), failure.what())});
    }
    const std::scoped_lock lock(shared->mutex);
    shared->ended = true;
    shared->changed.notify_all();
  }).detach();
}

DatabaseChecks::~DatabaseChecks() = default;

DatabaseFindings DatabaseChecks::finish() {
  std::unique_lock lock(shared_->mutex);
  const bool ended = shared_->changed.wait_until(lock, deadline_, [&] { return shared_->ended; });
  DatabaseFindings found = shared_->found;
  if (!ended) {
    shared_->abandoned.request_stop();
    found.findings.push_back(error(
        "database", problem("database-down"),
        fmt::format("the checks have not ended after {} s",
                    std::chrono::round<std::chrono::seconds>(shared_->options.limit).count())));
  }
  return found;
}

}  // namespace skua::doctor
