#include "consumers/own/projection_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "consumers/fold_step.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/own/projection_check.sql.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {
namespace {

using Kind = OwnStatement::Kind;
using std::chrono::milliseconds;

/// The number of changes to which a fold is applied.
constexpr std::int64_t kChanges = 10'000;

/// A row of dry_run_changes.
struct TriedChanges {
  std::int64_t first;
  std::int64_t end;
};

class Trial {
 public:
  Trial(postgres::Session& session, Projection projection, const DryRunOptions& options)
      : session_(session),
        projection_(std::move(projection)),
        own_(*projection_.own),
        options_(options),
        id_(new_consumer_number(session)) {
    auto& limit = projection_.own->limits.build;
    limit = std::min(limit, options.timeout);
  }

  DryRun run() {
    postgres::Transaction transaction(session_);
    session_.run(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_hashjoin = on; SET "
        "LOCAL "
        "enable_mergejoin = on; SET LOCAL enable_seqscan = on");
    keys_ = keys_of_collections(session_, projection_);
    if (!own_.rows.empty()) take_sample();
    create_tables(session_, projection_, id_);
    create_own_functions(session_, projection_, id_, keys_);
    timed("fill", Kind::Fill, [&] { fill_tables(session_, projection_, id_); });
    if (own_.rows.empty()) {
      compare();
      count_rows();
      const auto range = session_.query_one<TriedChanges>(sql::dry_run_changes, kChanges);
      result_.changes = range.end - range.first;
      fold(range);
    } else {
      fold({.first = 1, .end = 2});
      compare();
      count_rows();
    }
    return std::move(result_);
  }

 private:
  void take_sample() {
    std::string records = keys_.first;
    boost::replace_all(records, "$1", std::to_string(options_.records));
    const std::string sample = fmt::format("projections.sample_{}", id_);
    session_.run(
        fmt::format("CREATE TABLE {} AS SELECT row_number() OVER () AS n, s.* FROM ({}) AS s",
                    sample, records));
    session_.run("ANALYZE " + sample);
    session_.run(fmt::format("GRANT SELECT ON {} TO skua_projection", sample));
    result_.records = session_.run("SELECT count(*) FROM " + sample).int8(0, 0);
    const std::string all =
        fmt::format("SELECT s.actor_id, s.rkey, s.collection_id FROM {} AS s", sample);
    keys_.filled = all + " WHERE s.n % 3 > 0";
    keys_.touched = all;
    keys_.compared = all;
  }

  void fold(const TriedChanges& range) {
    range_ = range;
    timed("fold", Kind::Fold, [&] {
      const std::int32_t lanes = projection_.has_lanes ? 2 : 1;
      for (std::int32_t lane = 0; lane < lanes; ++lane) {
        apply_changes(session_, projection_,
                      {.consumer_id = id_,
                       .name = projection_.name,
                       .lane = lane,
                       .lanes = lanes,
                       .first = range.first,
                       .end = range.end});
      }
    });
  }

  void compare() {
    timed("compare", Kind::Differences, [&] {
      StatementLimit limit(session_, own_.limits.build);
      result_.differences = session_.query<std::string>(
          {fmt::format("differences_{}", id_), sql_for(projection_, id_, projection_.differences)},
          std::optional<std::int32_t>());
      limit.end();
    });
  }

  void count_rows() {
    for (const OwnTable& table : own_.tables) {
      const auto rows =
          session_
              .run(fmt::format("SELECT count(*) FROM {} WHERE {}",
                               table_of(projection_, table.name, id_), table.condition))
              .int8(0, 0);
      result_.tables.push_back({.name = table.name, .rows = rows});
    }
  }

  template <class Work>
  void timed(const char* name, Kind kind, Work&& work) {
    DryRun::Step step{.name = name};
    explain(kind, step);
    const auto begin = std::chrono::steady_clock::now();
    try {
      work();
    } catch (const postgres::SqlError& error) {
      if (failed_own_work(error) == FailedWork::Server) throw;
      throw std::invalid_argument(
          fmt::format("{}, plan cost {:.0f}: {}{}", name, step.cost, error.what(),
                      kind != Kind::Fold && error.sqlstate() == postgres::kQueryCanceled
                          ? ": allow more time with `--timeout`"
                          : ""));
    }
    step.time = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    result_.steps.push_back(std::move(step));
  }

  /// Adds the plans of all statements of a kind to a step, and their costs.
  void explain(Kind kind, DryRun::Step& step) {
    for (const OwnStatement& statement : own_.statements) {
      if (statement.kind != kind) continue;
      const std::string name = fmt::format("skua_plan_{}", ++plans_);
      session_.run_single(
          fmt::format("PREPARE {}{} AS {}", name, parameters_of(kind),
                      own_sql(projection_, id_, keys_, statement.sql, keys_.filled)));
      const auto plan = session_.run(fmt::format("EXPLAIN EXECUTE {}{}", name, arguments_of(kind)));
      session_.run("DEALLOCATE " + name);
      for (std::size_t row = 0; row < plan.size(); ++row) step.plan.emplace_back(plan.text(row, 0));
      // The first line has the cost of the whole plan: `cost=FIRST_ROW..ALL_ROWS`.
      const std::string first(plan.text(0, 0));
      const std::size_t at = first.find("..", first.find("cost="));
      if (at != std::string::npos) step.cost += std::strtod(first.c_str() + at + 2, nullptr);
    }
  }

  static const char* parameters_of(Kind kind) {
    if (kind == Kind::Fill) return "";
    return kind == Kind::Fold ? "(int8, int8, int4, int4)" : "(int4)";
  }

  std::string arguments_of(Kind kind) const {
    if (kind == Kind::Fill) return "";
    return kind == Kind::Fold ? fmt::format("({}, {}, 0, 1)", range_.first, range_.end) : "(NULL)";
  }

  postgres::Session& session_;
  Projection projection_;
  const OwnParts& own_;
  const DryRunOptions options_;
  const std::int32_t id_;
  OwnKeys keys_;
  /// The changes of the fold.
  TriedChanges range_{.first = 1, .end = 2};
  int plans_ = 0;
  DryRun result_;
};

}  // namespace

DryRun try_projection(postgres::Session& session, const Projection& projection,
                      const DryRunOptions& options) {
  check_in_database(session, projection);
  return Trial(session, projection, options).run();
}

}  // namespace skua::consumers
