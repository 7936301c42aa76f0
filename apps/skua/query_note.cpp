#include "query_note.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/projections/projection.hpp"
#include "index.hpp"
#include "postgres/query_database.hpp"
#include "postgres/rows.hpp"
#include "postgres/standby.hpp"
#include "status/standby_status.hpp"
#include "tables/filter_table.hpp"
#include "tables/network_nodes.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {

namespace {

/// The function bsky.is_current has the same limit.
constexpr std::chrono::minutes kCurrent{1};

bool is_blocked(const consumers::Consumer& consumer) {
  return std::any_of(consumer.lanes.begin(), consumer.lanes.end(),
                     [](const consumers::ConsumerLane& lane) { return lane.is_blocked; });
}

std::string behind_text(const consumers::Consumer& consumer) {
  if (!consumer.behind || *consumer.behind == 0) return "";
  const auto lag = consumer.lag.value_or(std::chrono::milliseconds(0));
  return fmt::format(" and {} {} ({}) behind", with_commas(*consumer.behind),
                     noun_for(*consumer.behind, "change"),
                     duration_text(std::chrono::duration_cast<std::chrono::seconds>(lag)));
}

/// Returns a note about a built projection that does not follow the change log.
QueryNote stale_projection(const consumers::Consumer& consumer, const std::string& what,
                           const std::string& action) {
  return {fmt::format("the projection {} is {}{}: its part of the answer is old or empty",
                      consumer.name, what, behind_text(consumer)),
          {fmt::format("consumers {} {}", action, consumer.name)}};
}

std::optional<QueryNote> judge_live(const consumers::Consumer& consumer) {
  if (consumer.state == "lagged out") return stale_projection(consumer, "lagged out", "rebuild");
  if (consumer.state == "stopped" || is_blocked(consumer)) {
    return stale_projection(consumer, "stopped by an error", "reset");
  }
  if (consumer.paused && consumer.behind.value_or(0) > 0) {
    return stale_projection(consumer, "paused", "resume");
  }
  if (consumer.lag.value_or(std::chrono::milliseconds(0)) >= kCurrent) {
    return QueryNote{
        fmt::format("the projection {} is {} behind ({}): its part of the answer is old or empty. "
                    "`skua run` brings it up to date, and if none runs, this command does",
                    consumer.name, counted(consumer.behind.value_or(0), "change"),
                    duration_text(std::chrono::duration_cast<std::chrono::seconds>(*consumer.lag))),
        {"consumers run-until-idle " + consumer.name}};
  }
  return std::nullopt;
}

QueryNote judge_build(const consumers::Consumer& consumer, const std::string& without) {
  const std::string& name = consumer.name;
  if (!consumer.error.empty() || consumer.state == "stopped" || consumer.state == "lagged out") {
    return {fmt::format("the build of the projection {} failed: {}. Until it is built, {}", name,
                        consumer.error.empty() ? consumer.state : consumer.error, without),
            {"consumers rebuild " + name, "consumers run-until-idle " + name}};
  }
  return {fmt::format("the projection {} is being built: until then, {}. `skua run` builds it, and "
                      "if none runs, this command does",
                      name, without),
          {"consumers run-until-idle " + name}};
}

std::optional<QueryNote> judge_projection(const std::vector<consumers::Consumer>& consumers,
                                          const QueryNeed& need) {
  const auto find = [&](const char* role) {
    return std::find_if(consumers.begin(), consumers.end(),
                        [&](const consumers::Consumer& consumer) {
                          return consumer.name == need.name && consumer.role == role;
                        });
  };
  if (const auto live = find("live"); live != consumers.end()) return judge_live(*live);
  if (const auto next = find("next"); next != consumers.end()) {
    return judge_build(*next, need.without);
  }
  return QueryNote{fmt::format("the projection {} does not exist: {}. The first command adds it. "
                               "`skua run` builds it, and if none runs, the second command does",
                               need.name, need.without),
                   {"consumers add " + need.name, "consumers run-until-idle " + need.name}};
}

const OptionalIndex& require_optional_index(const std::string& name) {
  const OptionalIndex* const index = find_optional_index(name);
  if (index == nullptr) throw std::logic_error("no optional index " + name);
  return *index;
}

std::optional<QueryNote> judge_index(postgres::Session& session, const QueryNeed& need) {
  const OptionalIndex& index = require_optional_index(need.name);
  const std::string add = fmt::format("index add {}", need.name);
  switch (read_index_state(session, index).progress) {
    case IndexState::Progress::Missing:
      return QueryNote{fmt::format("the index {} does not exist: {}", need.name, need.without),
                       {add}};
    case IndexState::Progress::Building:
      return QueryNote{fmt::format("the index {} is being built: until then the query reads the "
                                   "whole table",
                                   need.name),
                       {"index list"}};
    case IndexState::Progress::Incomplete:
      return QueryNote{fmt::format("the build of the index {} was interrupted: the query reads "
                                   "the whole table",
                                   need.name),
                       {add}};
    case IndexState::Progress::Complete:
      break;
  }
  return std::nullopt;
}

/// A subject with more records is popular: sorting them takes longer than all else.
constexpr std::int64_t kPopular = 20'000;

/// The statement of an index that is for popular subjects. It returns the number of records of the
/// subject $1, at most $2, and reads the index of subjects only.
const postgres::Statement& records_of_subject(const std::string& index) {
  using postgres::Statement;
  static const std::map<std::string, Statement> all = {
      {"newest-likes",
       {"query_likes_of_subject",
        "SELECT count(*) FROM (SELECT FROM bsky.resolve_uri($1::text) AS k JOIN bsky.likes AS l ON "
        "l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey LIMIT $2::int8) AS q"}},
      {"newest-reposts",
       {"query_reposts_of_subject",
        "SELECT count(*) FROM (SELECT FROM bsky.resolve_uri($1::text) AS k JOIN bsky.reposts AS l "
        "ON l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey LIMIT $2::int8) AS q"}},
      {"newest-followers",
       {"query_follows_of_subject",
        "SELECT count(*) FROM (SELECT FROM bsky.follows AS f WHERE f.subject_actor = "
        "(SELECT bsky.actor_id($1::text)) LIMIT $2::int8) AS q"}},
  };
  return all.at(index);
}

bool is_popular(postgres::Session& session, const std::string& index, const std::string& subject) {
  return session
             .execute(records_of_subject(index),
                      postgres::Params().text(subject).int8(kPopular + 1))
             .int8(0, 0) > kPopular;
}

std::optional<QueryNote> judge_fast_index(postgres::Session& session, const QueryNeed& need,
                                          const std::string& subject) {
  const OptionalIndex& index = require_optional_index(need.name);
  if (read_index_state(session, index).progress == IndexState::Progress::Complete) {
    return std::nullopt;
  }
  if (!is_popular(session, need.name, subject)) return std::nullopt;
  return QueryNote{
      fmt::format("{} has more than {} records, and the index {} does not exist: {}",
                  printable(subject, 200), with_commas(kPopular), need.name, need.without),
      {fmt::format("index add {}", need.name)}};
}

std::optional<QueryNote> judge_labels(postgres::Session& session, const QueryNeed& need) {
  if (session.run("SELECT EXISTS (SELECT FROM bsky.labels)").boolean(0, 0)) return std::nullopt;
  return QueryNote{fmt::format("the database has no labels: {}. `skua run` reads them from "
                               "labelers: --labeler URL, or --discover-labelers",
                               need.without),
                   {}};
}

}  // namespace

namespace {

/// Optional indexes belong to the nodes.
std::optional<QueryNote> judge_index_of_nodes(postgres::Session& session, const QueryNeed& need,
                                              const std::vector<std::string>& values) {
  const OptionalIndex& index = require_optional_index(need.name);
  const auto missing = postgres::nodes_without_index(session, index.index);
  if (missing.empty()) return std::nullopt;
  if (need.kind == QueryNeed::Kind::FastIndex && !is_popular(session, need.name, values.at(0))) {
    return std::nullopt;
  }
  return QueryNote{
      fmt::format("the index {0} does not exist on these nodes: {1}. Until it does, {2}. "
                  "Run `skua index add {0}` with the database of each node",
                  need.name, fmt::join(missing, ", "), need.without),
      {}};
}

/// A query database has no consumers of its own.
std::optional<QueryNote> judge_need_of_nodes(postgres::Session& session, const QueryNeed& need,
                                             const std::vector<std::string>& values) {
  using Kind = QueryNeed::Kind;
  if (need.kind == Kind::Labels) return judge_labels(session, need);
  if (need.kind == Kind::FastIndex || need.kind == Kind::Index) {
    return judge_index_of_nodes(session, need, values);
  }
  const auto missing = postgres::nodes_without(session, need.name);
  if (!missing) {
    return QueryNote{fmt::format("nodes have no projection {}: {}", need.name, need.without), {}};
  }
  if (missing->empty()) return std::nullopt;
  return QueryNote{fmt::format("the projection {0} is not built, or is more than a minute behind, "
                               "on these nodes: {1}. Until it is, {2}. Run `skua consumers add "
                               "{0}`, and `skua run` with the database of each node",
                               need.name, fmt::join(*missing, ", "), need.without),
                   {}};
}

}  // namespace

std::vector<QueryNote> missing_needs(postgres::Session& session, bool is_query_database,
                                     const NamedQuery& query,
                                     const std::vector<std::string>& values,
                                     const Invocation& invocation) {
  std::vector<QueryNote> notes;
  if (is_query_database) {
    for (const QueryNeed& need : query.needs) {
      if (auto note = judge_need_of_nodes(session, need, values)) {
        notes.push_back(std::move(*note));
      }
    }
    return notes;
  }
  std::optional<std::vector<consumers::Consumer>> consumers;
  for (const QueryNeed& need : query.needs) {
    std::optional<QueryNote> note;
    switch (need.kind) {
      case QueryNeed::Kind::Projection:
        if (!consumers) consumers = consumers::read_consumers(session);
        note = judge_projection(*consumers, need);
        break;
      case QueryNeed::Kind::Index:
        note = judge_index(session, need);
        break;
      case QueryNeed::Kind::FastIndex:
        note = judge_fast_index(session, need, values.at(0));
        break;
      case QueryNeed::Kind::Labels:
        note = judge_labels(session, need);
    }
    if (!note) continue;
    for (std::string& command : note->commands) command = invocation.command_to_copy(command);
    notes.push_back(std::move(*note));
  }
  return notes;
}

namespace {

/// Returns the tables of bsky that the transaction has read. A sequential or index scan is counted
/// when it begins.
std::vector<std::string> tables_read(postgres::Session& session) {
  return postgres::rows_of<std::string>(
      session.run("SELECT relname FROM pg_stat_xact_user_tables WHERE schemaname = 'bsky' AND "
                  "coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0"));
}

/// Adds the tables of bsky from which a projection is computed.
void add_tables_of(const consumers::Projection& projection, std::set<std::string>& tables) {
  constexpr std::string_view kSchema = "bsky.";
  for (const std::string& statement : projection.fill) {
    for (std::size_t at = statement.find(kSchema); at != statement.npos;
         at = statement.find(kSchema, at)) {
      at += kSchema.size();
      const auto begin = statement.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = std::find_if(
          begin, statement.end(), [](unsigned char c) { return std::islower(c) == 0 && c != '_'; });
      tables.emplace(begin, end);
    }
  }
}

/// Returns the collections whose records the answer depends on. The comment of a table of records
/// names its collection.
std::vector<std::string> collections_read(postgres::Session& session, const NamedQuery& query) {
  std::set<std::string> tables;
  for (std::string& table : tables_read(session)) tables.insert(std::move(table));
  for (const QueryNeed& need : query.needs) {
    if (need.kind != QueryNeed::Kind::Projection) continue;
    if (const auto* const projection = consumers::find_projection(need.name)) {
      add_tables_of(*projection, tables);
    }
  }
  return postgres::rows_of<std::string>(session.run(fmt::format(
      "SELECT c.nsid FROM pg_class AS t JOIN bsky.collections AS c ON c.nsid = "
      "substring(obj_description(t.oid, 'pg_class') FROM 'the records of "
      "([a-z]+(?:\\.[a-zA-Z]+)+)') WHERE "
      "t.relnamespace = 'bsky'::regnamespace AND t.relkind = 'r' AND t.relname = ANY ('{{{}}}') "
      "ORDER BY 1",
      fmt::join(tables, ","))));
}

void add_filter_notes(const tables::Filter& filter, const std::vector<std::string>& collections,
                      const Invocation& invocation, std::vector<QueryNote>& notes) {
  std::vector<std::string> left_out;
  for (const std::string& collection : collections) {
    if (!filter.passes_collection(collection)) left_out.push_back(collection);
  }
  const std::string show = invocation.command_to_copy("filter show");
  if (!left_out.empty()) {
    notes.push_back({fmt::format("the filter leaves out {}: their records are missing",
                                 fmt::join(left_out, ", ")),
                     {show}});
  }
  if (const auto accounts = static_cast<std::int64_t>(filter.content().dids.size());
      accounts > 0 && !collections.empty()) {
    notes.push_back({fmt::format("the filter lets only {} through: records of others are missing",
                                 counted(accounts, "account")),
                     {show}});
  }
  std::vector<std::string> kept;
  for (const tables::KeepTime& limit : filter.limits().retention) {
    if (std::find(collections.begin(), collections.end(), limit.collection) == collections.end()) {
      continue;
    }
    kept.push_back(fmt::format("{} for {}", limit.collection, duration_text(limit.keep)));
  }
  if (!kept.empty()) {
    notes.push_back({fmt::format("records are kept for a limited time: {}", fmt::join(kept, ", ")),
                     {invocation.command_to_copy("retention list")}});
  }
}

}  // namespace

std::vector<QueryNote> missing_records(postgres::Session& session, const NamedQuery& query,
                                       const Invocation& invocation) {
  std::vector<QueryNote> notes;
  const auto collections = collections_read(session, query);
  add_filter_notes(*tables::load_filter(session), collections, invocation, notes);
  return notes;
}

void print_note(const QueryNote& note) {
  std::string text = "note: " + note.text;
  for (const std::string& command : note.commands) text += "\n  " + command;
  print_progress(text, stderr);
}

void print_notes(const std::vector<QueryNote>& notes) {
  for (const QueryNote& note : notes) print_note(note);
}

std::vector<QueryNote> slow_conditions(postgres::Session& session, const std::string& sql) {
  std::vector<QueryNote> notes;
  const postgres::Rows rows = session.execute(
      {"query_slow_conditions", "SELECT condition, fast_form FROM bsky.slow_conditions($1::text)"},
      postgres::Params().text(sql));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    notes.push_back({fmt::format("{} reads the whole table. The fast form: {}", rows.text(i, 0),
                                 rows.text(i, 1)),
                     {}});
  }
  return notes;
}

namespace {

/// A source that is read up to an earlier time is late.
constexpr std::chrono::minutes kLate{10};

/// Notes of a query database about what its nodes lack.
void add_node_notes(postgres::Session& session, const Invocation& invocation,
                    std::vector<QueryNote>& notes) {
  const std::string list = invocation.command_to_copy("nodes list");
  if (const auto groups = tables::missing_groups(session)) {
    notes.push_back(
        {fmt::format("no node owns the groups {}: records of their accounts are missing", *groups),
         {list}});
  }
  if (const auto move = tables::move_under_way(session)) {
    notes.push_back({move->text() + ". Until then, changes of their accounts are late", {list}});
  }
  for (const postgres::NodeState& node : postgres::node_states(session)) {
    const auto add = [&](const std::string& text) {
      notes.push_back({fmt::format("the node {} {}", node.name, text), {list}});
    };
    if (!node.problem.empty()) {
      add("cannot be read: " + node.problem);
      continue;
    }
    if (node.age && std::chrono::seconds(*node.age) > kLate) {
      add(fmt::format("has read its sources up to {} UTC, {} ago: later records are missing",
                      node.read_up_to.value_or(""),
                      duration_text(std::chrono::seconds(*node.age))));
    }
    if (node.has_waiting) {
      add("has not sent all accounts that its records mention to the other nodes: their names are "
          "missing, or their records. `skua run` on this node sends them");
    }
    if (node.has_filter) add("has a filter: the records that it leaves out are missing");
    if (!node.kept.empty()) add("keeps records for a limited time: " + node.kept);
  }
}

}  // namespace

std::vector<QueryNote> missing_work(postgres::Session& session, bool is_query_database,
                                    const Invocation& invocation) {
  std::vector<QueryNote> notes;
  if (is_query_database) {
    add_node_notes(session, invocation, notes);
    return notes;
  }
  if (const auto lag = postgres::standby_lag(session); lag && *lag >= postgres::kLateStandby) {
    notes.push_back({status::standby_text(*lag) + ": later records are missing",
                     {invocation.command_to_copy("status")}});
  }
  const auto dropped = session.run("SELECT count(*) FROM skua.dropped_indexes").int8(0, 0);
  if (dropped > 0) {
    notes.push_back({fmt::format("a bootstrap has not ended, and {} {} missing: records are "
                                 "missing, queries are slow, and no projection is built until its "
                                 "end",
                                 counted(dropped, "index"), dropped == 1 ? "is" : "are"),
                     {invocation.command_to_copy("backfill status")}});
  }
  // Only relays send records; labelers are excluded.
  const postgres::Rows newest = session.run(
      "SELECT to_char(max(event_time), 'YYYY-MM-DD HH24:MI:SS'), extract(epoch FROM "
      "clock_timestamp() - max(event_time))::int8 FROM skua.cursors WHERE source NOT LIKE "
      "'labeler:%' AND event_time > 'epoch' HAVING max(event_time) IS NOT NULL");
  if (!newest.empty() && std::chrono::seconds(newest.int8(0, 1)) > kLate) {
    notes.push_back(
        {fmt::format("the sources are read up to {} UTC, {} ago: later records are "
                     "missing. `skua run` reads them",
                     newest.text(0, 0), duration_text(std::chrono::seconds(newest.int8(0, 1)))),
         {invocation.command_to_copy("status")}});
  }
  return notes;
}

namespace {

using postgres::Statement;

const Statement kAccount{
    "query_subject_account",
    "SELECT a.did, coalesce(a.handle, a.did), a.active IS NOT FALSE, coalesce(a.status, ''), "
    "coalesce(r.state, '') FROM bsky.actors AS a LEFT JOIN skua.repositories AS r ON r.did = a.did "
    "WHERE a.id = (SELECT bsky.actor_id($1::text))"};
// A post that others refer to has a stub. Other records have no stubs, so the statement looks for
// their backlinks.
const Statement kRecord{
    "query_subject_record",
    "SELECT bsky.record_json($1::text) IS NOT NULL, p.actor_id IS NOT NULL OR EXISTS (SELECT FROM "
    "bsky.backlinks($1::text, 1)), coalesce(p.is_deleted, false) FROM (SELECT) AS one LEFT JOIN "
    "bsky.resolve_uri($1::text) AS k ON true LEFT JOIN bsky.posts AS p ON k.collection_id = 1 AND "
    "(p.actor_id, p.rkey) = (k.actor_id, k.rkey)"};

/// Looks up the accounts and records of the arguments, and notes which of their content is not
/// stored.
class Subjects {
 public:
  Subjects(postgres::Session& session, const Invocation& invocation)
      : session_(session), invocation_(invocation) {}

  void look_at_account(const std::string& name) {
    const postgres::Rows rows = session_.execute(kAccount, postgres::Params().text(name));
    if (rows.empty()) throw unknown_account(name);
    const std::string shown(rows.text(0, 1));
    if (!rows.boolean(0, 2)) {
      const std::string_view status = rows.text(0, 3);
      notes_.push_back({fmt::format("the account {} is {}: its records are not shown", shown,
                                    status.empty() ? "inactive" : status),
                        {}});
    } else if (rows.text(0, 4) != "complete") {
      notes_.push_back({fmt::format("the repository of {} is not complete in this database: its "
                                    "older records may be missing",
                                    shown),
                        {backfill(shown)}});
    }
  }

  void look_at_record(const std::string& uri) {
    const std::string account =
        uri.substr(kScheme.size(), uri.find('/', kScheme.size()) - kScheme.size());
    if (session_.execute(kAccount, postgres::Params().text(account)).empty()) {
      throw unknown_account(account);
    }
    const postgres::Rows rows = session_.execute(kRecord, postgres::Params().text(uri));
    if (rows.boolean(0, 0)) return;
    if (rows.boolean(0, 2)) {
      notes_.push_back({fmt::format("the post {} was deleted", uri), {}});
    } else if (rows.boolean(0, 1)) {
      notes_.push_back(
          {fmt::format("the record {} is not stored, only records that refer to it", uri),
           {backfill(account)}});
    } else {
      throw std::runtime_error(
          fmt::format("the record {} is not in the database, and no record refers to it. To "
                      "download the repository of its account:\n  {}",
                      uri, backfill(account)));
    }
  }

  /// Looks at the account of a target. Records without a table may name an account that has no
  /// number.
  void look_at_target(const std::string& target) {
    if (target.find('/', kScheme.size()) != std::string::npos && target.starts_with(kScheme)) {
      look_at_record(target);
    } else if (!target.starts_with("did:")) {
      look_at_account(target);
    }
  }

  std::vector<QueryNote> take_notes() { return std::move(notes_); }

 private:
  static constexpr std::string_view kScheme = "at://";

  std::string backfill(const std::string& account) const {
    return invocation_.command_to_copy("backfill " + account);
  }

  std::runtime_error unknown_account(const std::string& name) const {
    if (name.starts_with("did:")) {
      return std::runtime_error(
          fmt::format("the account {} is not in the database. To download its repository:\n  {}",
                      name, backfill(name)));
    }
    return std::runtime_error(
        fmt::format("no account in the database has the handle {}. To look its DID up, which may "
                    "be stored without the handle, and to download its repository:\n  {}\n  {}",
                    name, invocation_.command_to_copy("identity " + name), backfill(name)));
  }

  postgres::Session& session_;
  const Invocation& invocation_;
  std::vector<QueryNote> notes_;
};

}  // namespace

std::vector<QueryNote> missing_subjects(postgres::Session& session, const NamedQuery& query,
                                        const std::vector<std::string>& values,
                                        const Invocation& invocation) {
  Subjects subjects(session, invocation);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& argument = query.arguments[i];
    if (argument == "account" || argument == "other" || argument == "labeler") {
      subjects.look_at_account(values[i]);
    }
    if (argument == "post" || argument == "record") subjects.look_at_record(values[i]);
    if (argument == "target") subjects.look_at_target(values[i]);
  }
  return subjects.take_notes();
}

}  // namespace skua::cli
