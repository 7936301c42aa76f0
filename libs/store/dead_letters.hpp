#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// Input that could not become rows (`skua.dead_letter`).
struct DeadLetter {
  /// Who rejected it.
  std::string consumer;
  /// What it is; unique with the consumer. Of the indexer: source, position and op.
  std::string key;
  Bytes payload;
  std::string error;
  /// Empty when it was not PostgreSQL that refused it.
  std::string sqlstate;
};

/// Writes letters. One that is there already with another outcome counts an attempt; with the same
/// one, as after a replay, it stays as it is. Texts may be anything: what PostgreSQL cannot hold is
/// replaced. In the caller's transaction, if there is one. Returns the number of rows changed.
std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now);

}  // namespace skua::store
