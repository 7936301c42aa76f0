#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "postgres/session.hpp"

namespace skua::streams {

/// Keeps the order of the changes of accounts that have moved between nodes, for the pull consumers
/// and webhooks that a process serves on all nodes of a query database (docs/adr/0021). A consumer
/// gets the changes that a node has after the arrival of groups when it has all changes that the
/// other node had of them. Any thread may call the functions.
class NodeMoves {
 public:
  explicit NodeMoves(const std::vector<std::string>& nodes);

  /// Reads the moves and the positions of the consumers of a node. Throws postgres::SqlError.
  void update(postgres::Session& session, const std::string& node);

  /// Returns the moves to a node whose changes a consumer may get, for LaneRequest::passed_moves.
  /// A node that was not read yet, or was read before the last change of the consumer, holds them
  /// longer.
  std::string passed(const std::string& node, const std::string& consumer) const;

  /// Returns the other nodes whose changes a consumer must have before it gets those that this node
  /// has after the arrival of groups.
  std::set<std::string> awaited(const std::string& node, const std::string& consumer) const;

 private:
  struct State {
    std::vector<consumers::NodeMove> moves;
    std::map<std::string, std::int64_t> positions;
  };
  /// A node that was not read has no state.
  using States = std::map<std::string, std::optional<State>>;

  /// Whether a consumer has all changes that the first node of a move had of its groups.
  static bool has_passed(const States& states, const consumers::NodeMove& move,
                         const std::string& consumer);

  Guarded<States> states_;
};

/// The node that a part of a process serves. It has no name if there is one database.
struct ServedNode {
  std::string name = {};
  /// Null if there is one database.
  std::shared_ptr<NodeMoves> moves = nullptr;

  /// Whether this part serves a consumer. Consumers that were added on a node alone are not those
  /// of the query database.
  bool serves(const consumers::LeasedConsumer& consumer) const {
    return consumer.of_network == (moves != nullptr);
  }
  void update(postgres::Session& session) const {
    if (moves) moves->update(session, name);
  }
  /// See LaneRequest::passed_moves.
  std::optional<std::string> passed(const std::string& consumer) const {
    return moves ? std::optional(moves->passed(name, consumer)) : std::nullopt;
  }
};

}  // namespace skua::streams
