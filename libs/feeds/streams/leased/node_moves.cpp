#include "streams/leased/node_moves.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skua::streams {

NodeMoves::NodeMoves(const std::vector<std::string>& nodes) {
  states_.with([&](States& states) {
    for (const std::string& node : nodes) states[node];
  });
}

void NodeMoves::update(postgres::Session& session, const std::string& node) {
  State state{.moves = consumers::read_node_moves(session), .positions = {}};
  if (!state.moves.empty()) {
    for (auto& [name, pos] : consumers::read_leased_positions(session)) {
      state.positions.emplace(std::move(name), pos);
    }
  }
  states_.with([&](States& states) { states[node] = std::move(state); });
}

bool NodeMoves::has_passed(const States& states, const consumers::NodeMove& move,
                           const std::string& consumer) {
  const auto from = states.find(move.from);
  // The changes of a node that was removed do not come.
  if (from == states.end()) return true;
  const auto& state = from->second;
  if (!state) return false;
  const auto left = std::ranges::find(state->moves, move.number, &consumers::NodeMove::number);
  if (left == state->moves.end() || !left->left_pos) return false;
  const auto position = state->positions.find(consumer);
  return position == state->positions.end() || position->second >= *left->left_pos;
}

std::string NodeMoves::passed(const std::string& node, const std::string& consumer) const {
  return states_.with([&](const States& states) {
    std::vector<std::int64_t> numbers;
    const auto& here = states.at(node);
    if (!here) return std::string();
    for (const consumers::NodeMove& move : here->moves) {
      if (has_passed(states, move, consumer)) numbers.push_back(move.number);
    }
    return fmt::format("{}", fmt::join(numbers, ","));
  });
}

std::set<std::string> NodeMoves::awaited(const std::string& node,
                                         const std::string& consumer) const {
  return states_.with([&](const States& states) {
    std::set<std::string> nodes;
    const auto& here = states.at(node);
    if (!here) return nodes;
    for (const consumers::NodeMove& move : here->moves) {
      if (move.from != node && !has_passed(states, move, consumer)) nodes.insert(move.from);
    }
    return nodes;
  });
}

}  // namespace skua::streams
