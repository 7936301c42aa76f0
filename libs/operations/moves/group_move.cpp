#include "moves/group_move.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/time.hpp"
#include "consumers/consumer_table.hpp"
#include "moves/group_move.sql.hpp"
#include "moves/row_copy.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/locks.hpp"
#include "postgres/query_database.hpp"
#include "postgres/sql_error.hpp"
#include "tables/account_groups.hpp"
#include "tables/network_nodes.hpp"

namespace skua::moves {
namespace {

using postgres::Node;
using postgres::NodeError;
using postgres::Session;
using postgres::Transaction;

/// The lock of the process that moves groups, in the query database (postgres/locks.hpp).
constexpr postgres::NamedLockKey kMoves{1936422146, 8};
constexpr std::int64_t kRowsOfPart = 50'000;
constexpr std::uint32_t kMostPartsOfGroup = 4'096;
constexpr std::chrono::milliseconds kPoll{200};
/// The reason of a wait is said again after this time.
constexpr std::chrono::seconds kReminder{10};
/// The time for which the sessions of other processes may need to end.
constexpr std::chrono::seconds kSessionPatience{60};

/// A row of moves_under_way.
struct MoveRow {
  std::int64_t number;
  std::string from;
  std::string to;
  std::string groups;
  std::string phase;

  atproto::GroupSet group_set() const { return atproto::GroupSet::parse(groups).value(); }
};

/// A row of moves_of_node.
struct NodePart {
  std::string phase;
  std::int32_t parts;
  std::int32_t parts_done;
  std::int64_t rows;
  std::optional<std::int32_t> left_timeline;
  std::optional<std::int64_t> left_pos;
  std::optional<std::int32_t> arrived_timeline;
  std::optional<std::int64_t> arrived_pos;
  std::string cursors;
};

/// A row of moves_facts.
struct NodeFacts {
  std::string sources;
  bool has_tap;
  bool has_run;
  std::string filter;
  bool has_bootstrap;
  bool has_lists;
  /// A role whose sessions this role may not end.
  std::optional<std::string> foreign_role;
};

/// A row of moves_waiting_consumer.
struct WaitingConsumer {
  std::string name;
  bool is_projection;

  std::string reason(const std::string& node) const {
    if (is_projection) {
      return fmt::format(
          "waits for the projection {} of the node {}. If no `skua run` updates it, `skua "
          "consumers run-until-idle {}` with the database of the node does",
          name, node, name);
    }
    return fmt::format(
        "waits until {} has the changes of the node {}: `skua serve` must run, and `skua consumers "
        "status {}` says what fails. While it is paused, the move does not wait, and it gets these "
        "changes without their records",
        name, node, name);
  }
};

const Node& find_node(const std::vector<Node>& nodes, const std::string& name) {
  const auto found = std::ranges::find(nodes, name, &Node::name);
  if (found == nodes.end()) throw NodeError(fmt::format("there is no node {}", name));
  return *found;
}

/// Returns the node that owns all of these groups.
const Node& owner_of(const std::vector<Node>& nodes, const atproto::GroupSet& groups) {
  for (const Node& node : nodes) {
    const auto owned = atproto::GroupSet::parse(node.owned).value();
    if (owned.has_all_of(groups)) return node;
    if (owned.has_any_of(groups)) {
      throw NodeError(fmt::format(
          "the node {} owns the groups {}: state groups of one node, and move those of each node",
          node.name, owned.text()));
    }
  }
  throw NodeError(fmt::format("no node owns the groups {}", groups.text()));
}

/// Throws NodeError unless both nodes can take part.
void require_possible(Session& ask, const Node& from, const Node& to) {
  for (const auto& [node, problem] : tables::check_nodes(ask)) {
    if (!problem.empty()) throw NodeError(fmt::format("the node {}: {}", node.name, problem));
  }
  std::vector<NodeFacts> facts;
  for (const Node* node : {&from, &to}) {
    Session session = postgres::open_node(*node, "skua nodes");
    const auto& found = facts.emplace_back(session.query_one<NodeFacts>(sql::moves_facts));
    const auto refuse = [&](std::string_view why) {
      throw NodeError(fmt::format("the node {} {}", node->name, why));
    };
    if (found.has_tap) {
      refuse("reads a Tap, which cannot be read again from where the other node stopped");
    }
    if (found.has_run && found.sources.empty()) {
      refuse("has not saved its first cursor yet: repeat the command in 10 seconds");
    }
    if (found.has_bootstrap) refuse("has an open bootstrap: let `skua backfill` end first");
    if (found.has_lists) {
      refuse(
          "reads lists of accounts, and would leave out those of the groups: wait until "
          "`skua backfill status` shows that the lists are read");
    }
    if (found.foreign_role) {
      refuse(
          fmt::format("has sessions of the role {}, which must end during a move: GRANT {} TO, "
                      "or GRANT pg_signal_backend TO, the role in the URL of the node",
                      *found.foreign_role, *found.foreign_role));
    }
  }
  if (facts[0].sources != facts[1].sources) {
    throw NodeError(
        fmt::format("the node {} reads {}, and the node {} reads {}: both must have begun with the "
                    "same sources, so that no event is lost",
                    from.name, facts[0].sources.empty() ? "no source" : facts[0].sources, to.name,
                    facts[1].sources.empty() ? "no source" : facts[1].sources));
  }
  if (facts[0].filter != facts[1].filter) {
    throw NodeError(fmt::format(
        "the nodes {} and {} have different filters, excluded accounts or retentions: make them "
        "equal with `skua filter` and `skua retention`",
        from.name, to.name));
  }
}

/// Ends all sessions that may know the former groups, so that they write nothing any more. A
/// process that connects again reads the present groups.
void end_sessions(Session& node, const std::string& url) {
  // This process knows of the change.
  postgres::database_watch().forget(url);
  const auto now = node.query_one<Timestamp>(sql::moves_now);
  const auto deadline = std::chrono::steady_clock::now() + kSessionPatience;
  while (node.query_one<std::int64_t>(sql::moves_end_sessions, now) > 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw NodeError(
          "sessions of `skua run` or `skua backfill` do not end within a minute: repeat the "
          "command");
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::set<std::string> projections_of(Session& node, const postgres::Statement& statement) {
  const auto names = node.query<std::string>(statement);
  return {names.begin(), names.end()};
}

/// A move, from its present phase to its end.
class Move {
 public:
  Move(Session& ask, MoveRow row, const Progress& progress)
      : ask_(ask),
        row_(std::move(row)),
        groups_(row_.group_set()),
        progress_(progress),
        nodes_(postgres::read_nodes(ask)),
        from_(postgres::open_node(find_node(nodes_, row_.from), "skua nodes")),
        to_(postgres::open_node(find_node(nodes_, row_.to), "skua nodes")) {
    // pg_terminate_backend warns of sessions that have ended meanwhile.
    for (Session* node : {&from_, &to_}) node->run("SET client_min_messages = error");
  }

  void run() {
    if (row_.phase != "leave" && row_.phase != "return") repair();
    if (row_.phase == "leave") leave();
    if (row_.phase == "copy") copy();
    if (row_.phase == "arrive") arrive();
    if (row_.phase == "connect") connect();
    if (row_.phase == "clean") clean();
    if (row_.phase == "return") give_back();
  }

  /// Does the last steps of a move again, which the first node has lost.
  void repeat() {
    set_phase("clean");
    run();
  }

  /// Lets `run` give the groups back to the first node.
  void cancel() {
    if (row_.phase != "leave" && row_.phase != "copy" && row_.phase != "return") {
      throw NodeError(fmt::format(
          "the groups {} have arrived on the node {} already: end this move with `skua nodes move "
          "{} --to {}`, then move them back",
          groups_.text(), row_.to, groups_.text(), row_.to));
    }
    set_phase("return");
  }

 private:
  void set_phase(const std::string& phase) {
    ask_.execute(sql::moves_set_phase, row_.number, phase);
    row_.phase = phase;
    crash_point("move_phase");
  }

  std::optional<NodePart> part_of(Session& node) const {
    return node.query_first<NodePart>(sql::moves_of_node, row_.number);
  }

  std::vector<AccountRange> ranges(std::int32_t parts) const {
    // The first part has the states.
    const auto count = static_cast<std::size_t>(parts - 1) / account_ranges(groups_, 1).size();
    return account_ranges(groups_, static_cast<std::uint32_t>(count));
  }

  /// Repeats steps that a node has lost by a failover or a restore.
  void repair() {
    const auto arriving = part_of(to_);
    const bool has_arrived = arriving && arriving->phase == "done";
    const auto leaving = part_of(from_);
    if (!leaving) {
      progress_(fmt::format("the node {} has lost the beginning of the move", row_.from));
      // Rows that are copied already may have changed.
      if (arriving && !has_arrived) to_.execute(sql::moves_set_parts, row_.number, arriving->parts);
      if (has_arrived) {
        give_away(has_arrived);
      } else {
        set_phase("leave");
      }
    } else if ((row_.phase == "connect" || row_.phase == "clean") && !has_arrived) {
      if (leaving->phase != "leave" || leaving->parts > 0) {
        throw NodeError(fmt::format(
            "the node {} has lost the groups {}, and the node {} has removed rows of them: restore "
            "a newer backup of the node {}",
            row_.to, groups_.text(), row_.from, row_.to));
      }
      progress_(fmt::format("the node {} has lost the arrival of the groups", row_.to));
      set_phase("copy");
    }
  }

  void leave() {
    progress_(fmt::format("the node {} gives the groups {} away", row_.from, groups_.text()));
    give_away();
    set_phase("copy");
  }

  /// If the groups have arrived, records that the first node has lost do not count in its sums, and
  /// those of the other node do not contain them either.
  void give_away(bool has_arrived = false) {
    if (!part_of(from_)) {
      change(from_, row_.from, [&] {
        if (has_arrived) from_.execute(sql::moves_note_wrong_sums);
        from_.execute(sql::moves_change_version);
        from_.execute(sql::moves_note_leave, row_.number, row_.from, row_.to, groups_.list());
        from_.execute(sql::moves_leave, groups_.list());
        from_.execute(sql::moves_forget_cursors, groups_.list());
        from_.execute(sql::moves_add_ranges);
      });
      crash_point("move_left");
    }
    end_sessions(from_, find_node(nodes_, row_.from).url);
    from_.execute(sql::moves_note_left, row_.number);
  }

  void copy() {
    const auto rows = from_.query_one<std::optional<std::int64_t>>(sql::moves_rows_of_group);
    const auto of_group = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(rows.value_or(0) / kRowsOfPart + 1, 1, kMostPartsOfGroup));
    const std::size_t parts = account_ranges(groups_, std::bit_ceil(of_group)).size() + 1;
    to_.execute(sql::moves_note_arrival, row_.number, row_.from, row_.to, groups_.list(),
                static_cast<std::int32_t>(parts));
    RowCopy rows_of(from_, to_);
    for (auto at = part_of(to_).value(); at.parts_done < at.parts; at = part_of(to_).value()) {
      Transaction transaction(to_);
      const auto copied =
          at.parts_done == 0
              ? rows_of.copy_states(groups_)
              : rows_of.copy_part(ranges(at.parts).at(static_cast<std::size_t>(at.parts_done - 1)));
      to_.execute(sql::moves_part_done, row_.number, static_cast<std::int64_t>(copied));
      crash_point("move_part");
      transaction.commit();
      progress_(fmt::format("copied {} of {} parts, {} rows", at.parts_done + 1, at.parts,
                            at.rows + static_cast<std::int64_t>(copied)));
    }
    set_phase("arrive");
  }

  void arrive() {
    if (part_of(to_).value().phase != "done") {
      change(to_, row_.to, [&] {
        to_.execute(sql::moves_change_version);
        to_.execute(sql::moves_take, groups_.list());
        to_.execute(sql::moves_rewind, part_of(from_).value().cursors, groups_.list());
        to_.execute(sql::moves_settle_handles, groups_.list());
        to_.execute(sql::moves_note_arrived, row_.number);
        to_.execute(sql::moves_add_ranges);
      });
      crash_point("move_arrived");
    }
    end_sessions(to_, find_node(nodes_, row_.to).url);
    progress_(fmt::format("the node {} owns the groups {}", row_.to, groups_.text()));
    set_phase("connect");
  }

  void connect() {
    const NodePart left = part_of(from_).value();
    const NodePart arrived = part_of(to_).value();
    change(ask_, row_.from, [&] {
      ask_.execute(sql::moves_set_owners, row_.number);
      ask_.execute(sql::moves_set_positions, row_.number, left.left_timeline, left.left_pos,
                   arrived.arrived_timeline, arrived.arrived_pos, arrived.rows);
      ask_.execute(sql::moves_set_phase, row_.number, "clean");
      postgres::disconnect_nodes(ask_);
      postgres::connect_nodes(ask_);
    });
    row_.phase = "clean";
    crash_point("move_phase");
  }

  void clean() {
    for (const std::string& problem : tables::copy_nodes(ask_)) {
      progress_(problem + ". It does not have the new list of nodes yet");
    }
    while (const auto waits =
               from_.query_first<WaitingConsumer>(sql::moves_waiting_consumer, row_.number)) {
      wait(waits->reason(row_.from));
    }
    wait_for_standbys();
    remove(from_, row_.from, "done");
    change(to_, row_.to, [&] { to_.execute(sql::moves_show_ranges); });
    std::set<std::string> wrong;
    for (Session* node : {&from_, &to_})
      wrong.merge(projections_of(*node, sql::moves_wrong_projections));
    for (Session* node : {&from_, &to_}) {
      for (const std::string& name : projections_of(*node, sql::moves_projections)) {
        if (wrong.contains(name)) consumers::rebuild_consumer(*node, name);
      }
    }
    set_phase("done");
  }

  /// Changes a database in one transaction. A question of the query database may read the views of
  /// a node, which the transaction replaces, so it is repeated until the question has ended.
  template <class Work>
  void change(Session& database, const std::string& node, Work work) {
    for (;;) {
      try {
        Transaction transaction(database);
        // Other questions wait behind this transaction.
        database.run("SET LOCAL lock_timeout = '1s'");
        work();
        return transaction.commit();
      } catch (const postgres::ServerError& error) {
        if (error.sqlstate() != postgres::kLockNotAvailable) throw;
        wait("waits for the end of questions that read the node " + node);
      }
    }
  }

  /// Repeats a transaction that PostgreSQL ends because of a deadlock. Another session may lock the
  /// same rows in another order, for example to remove those of a deleted account.
  template <class Work>
  static void without_deadlock(Work work) {
    for (;;) {
      try {
        return work();
      } catch (const postgres::ServerError& error) {
        if (error.sqlstate() != postgres::kDeadlock) throw;
      }
    }
  }

  /// A standby of the new node that replaces it must have the rows, because this move removes the
  /// other ones.
  void wait_for_standbys() {
    const auto position = to_.query_one<std::string>(sql::moves_wal_position);
    while (const auto standby = to_.query_first<std::string>(sql::moves_late_standby, position)) {
      wait(fmt::format("waits until the standby {} of the node {} has the groups", *standby,
                       row_.to));
    }
  }

  /// Says the reason of a wait, unless it was said a short time ago, and lets some time pass.
  void wait(const std::string& reason) {
    const auto now = std::chrono::steady_clock::now();
    if (reason != last_reason_ || now >= next_reminder_) {
      progress_(reason);
      last_reason_ = reason;
      next_reminder_ = now + kReminder;
    }
    std::this_thread::sleep_for(kPoll);
  }

  /// Removes the rows of the groups from a node, and ends its part of the move. The node that gives
  /// the groups away has a number of parts from the removal of the first part on, and a removal
  /// that was interrupted continues there. The other node has counted the parts that it copied.
  void remove(Session& node, const std::string& name, const std::string& phase) {
    const auto at = part_of(node).value();
    if (at.phase == phase) return;
    const bool has_begun = at.phase == "leave" && at.parts > 0;
    const std::int32_t parts = has_begun ? at.parts : part_of(to_).value().parts;
    RowRemoval removal(node, groups_);
    const std::vector<AccountRange> all = ranges(parts);
    for (std::size_t i = has_begun ? static_cast<std::size_t>(at.parts_done) : 0; i < all.size();
         ++i) {
      without_deadlock([&] {
        Transaction transaction(node);
        if (i == 0) node.execute(sql::moves_set_parts, row_.number, parts);
        removal.remove_part(all[i]);
        node.execute(sql::moves_part_done, row_.number, std::int64_t{0});
        crash_point("move_removed_part");
        transaction.commit();
      });
      progress_(fmt::format("removed {} of {} parts", i + 1, all.size()));
    }
    change(node, name, [&] {
      removal.remove_states();
      node.execute(sql::moves_end_of_node, row_.number, phase);
      node.execute(sql::moves_show_ranges);
    });
  }

  void give_back() {
    if (part_of(to_)) remove(to_, row_.to, "returned");
    if (const auto left = part_of(from_); left && left->phase == "leave") {
      change(from_, row_.from, [&] {
        from_.execute(sql::moves_change_version);
        from_.execute(sql::moves_take, groups_.list());
        from_.execute(sql::moves_rewind, left->cursors, groups_.list());
        from_.execute(sql::moves_end_of_node, row_.number, "returned");
        from_.execute(sql::moves_show_ranges);
      });
    }
    end_sessions(from_, find_node(nodes_, row_.from).url);
    progress_(fmt::format("the node {} owns the groups {} again", row_.from, groups_.text()));
    set_phase("returned");
  }

  Session& ask_;
  MoveRow row_;
  const atproto::GroupSet groups_;
  const Progress& progress_;
  const std::vector<Node> nodes_;
  Session from_;
  Session to_;
  std::string last_reason_;
  std::chrono::steady_clock::time_point next_reminder_;
};

/// Returns whether the first node of a move that has ended has not ended its part, or does not know
/// of the move any more. Returns false if the node cannot be reached.
bool has_lost_move(const Node& node, const MoveRow& row) {
  try {
    Session session = postgres::open_node(node, "skua nodes");
    if (const auto left = session.query_first<NodePart>(sql::moves_of_node, row.number)) {
      return left->phase == "leave";
    }
    return tables::load_account_groups(session).owned.has_all_of(row.group_set());
  } catch (const NodeError&) {
    return false;
  }
}

/// Notes the moves that have ended on a node that has lost them, and that the sums of its
/// projections are wrong: it may index events again that another node has counted. Adds both nodes
/// of these moves to `uneven`.
void note_former_moves(Session& ask, const Node& node, std::set<std::string>& uneven) {
  Session session = postgres::open_node(node, "skua nodes");
  if (tables::load_account_groups(session).owned.list() != node.owned) return;
  Transaction transaction(session);
  bool has_lost = false;
  for (const MoveRow& row : ask.query<MoveRow>(sql::moves_of, node.name)) {
    const auto noted = session.query<std::int64_t>(sql::moves_note_former, row.number, row.from,
                                                   row.to, row.group_set().list());
    if (noted.empty()) continue;
    has_lost = true;
    uneven.insert({row.from, row.to});
  }
  if (has_lost) session.execute(sql::moves_note_wrong_sums);
  transaction.commit();
}

/// Does so on all nodes that can be reached, and lets both nodes of each such move build their
/// projections again. On a node that cannot be reached the user does so: questions name it.
void note_former_moves(Session& ask, const Progress& progress) {
  const auto on_node = [](const auto& work) {
    try {
      work();
    } catch (const NodeError&) {
      return;
    }
  };
  const std::vector<Node> nodes = postgres::read_nodes(ask);
  std::set<std::string> uneven;
  for (const Node& node : nodes) {
    on_node([&] { note_former_moves(ask, node, uneven); });
  }
  for (const Node& node : nodes) {
    if (!uneven.contains(node.name)) continue;
    on_node([&] {
      Session session = postgres::open_node(node, "skua nodes");
      for (const std::string& name : projections_of(session, sql::moves_projections)) {
        consumers::rebuild_consumer(session, name);
      }
      progress(fmt::format("the node {} builds its projections again", node.name));
    });
  }
}

std::optional<MoveRow> find_move(Session& ask) {
  return ask.query_first<MoveRow>(sql::moves_under_way);
}

}  // namespace

void move_groups(Session& query_database, const atproto::GroupSet& groups, const std::string& to,
                 const Progress& progress) {
  const postgres::TriedLock lock(query_database, kMoves);
  if (!lock.is_taken()) throw NodeError("another `skua nodes move` is at work");
  auto row = find_move(query_database);
  bool is_cancelled = false;
  if (row) {
    is_cancelled = row->group_set() == groups && row->from == to;
    if (row->group_set() != groups || (row->to != to && !is_cancelled)) {
      throw NodeError(tables::move_under_way(query_database).value().text());
    }
  } else {
    const std::vector<Node> nodes = postgres::read_nodes(query_database);
    const Node& from = owner_of(nodes, groups);
    const Node& target = find_node(nodes, to);
    if (from.name == to) {
      progress(fmt::format("nothing changed: the node {} owns the groups {} already", to,
                           groups.text()));
      return;
    }
    require_possible(query_database, from, target);
    query_database.execute(sql::moves_begin, from.name, to, groups.list());
    row = find_move(query_database);
  }
  Move move(query_database, std::move(row).value(), progress);
  if (is_cancelled) move.cancel();
  move.run();
}

void repeat_lost_moves(Session& query_database, const Progress& progress) {
  const postgres::TriedLock lock(query_database, kMoves);
  if (!lock.is_taken()) throw NodeError("another `skua nodes move` is at work");
  if (const auto move = tables::move_under_way(query_database)) return progress(move->text());
  const std::vector<Node> nodes = postgres::read_nodes(query_database);
  for (const MoveRow& row : query_database.query<MoveRow>(sql::moves_partly_back)) {
    if (!has_lost_move(find_node(nodes, row.from), row)) continue;
    throw NodeError(fmt::format(
        "the database of the node {} is from before the move of the groups {}, of which some have "
        "come back: restore a newer backup, or replace the node with an empty database "
        "(docs/nodes.md)",
        row.from, row.group_set().text()));
  }
  for (MoveRow& row : query_database.query<MoveRow>(sql::moves_ended)) {
    if (!has_lost_move(find_node(nodes, row.from), row)) continue;
    progress(fmt::format("the database of the node {} is from before the move of the groups {}",
                         row.from, row.group_set().text()));
    Move(query_database, std::move(row), progress).repeat();
  }
  note_former_moves(query_database, progress);
}

}  // namespace skua::moves
