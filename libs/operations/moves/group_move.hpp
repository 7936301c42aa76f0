#pragma once

#include <functional>
#include <string>

#include "atproto/account_group.hpp"
#include "postgres/session.hpp"

namespace skua::moves {

/// What a move does at this moment, for the user. It may be called often.
using Progress = std::function<void(const std::string&)>;

/// Moves groups of accounts from the node that owns them to another one, while everything runs (ADR
/// 21). Each step can be repeated: a call with the same groups and node continues a move that was
/// interrupted. If the node owns the groups, nothing changes. A call with the node that the groups
/// came from cancels a move whose groups have not arrived yet. One thread, which blocks until the
/// end. Throws NodeError if the move is not possible, and postgres::SqlError.
void move_groups(postgres::Session& query_database, const atproto::GroupSet& groups,
                 const std::string& to, const Progress& progress);

/// Takes groups away from nodes whose databases do not know that they have left them: backups and
/// standbys from before a move. Their rows are removed as by the move, and their projections and
/// those of the other node are built again. Also notes moves of groups that have come back since,
/// with new builds, because the node may index events again that the other one has counted. Does
/// nothing while a move is under way, and says so. Leaves out nodes that were removed or cannot be
/// reached. One thread, which blocks until the end. `skua nodes move` continues after an
/// interruption. Throws NodeError, also if the other node cannot be reached, or if only some groups
/// of a move have come back, and postgres::SqlError.
void repeat_lost_moves(postgres::Session& query_database, const Progress& progress);

}  // namespace skua::moves
