#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backfill/letters/replay_letter.hpp"
#include "resolve/resolver.hpp"
#include "store/dead_letter_table.hpp"
#include "store/filter_table.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"
#include "writer/added_lexicons.hpp"

namespace skua::backfill {

/// Replays dead letters one after another, with the filter and the clock of the server at its
/// construction. For the letters of one request: the filter may change later. Uses a session of its
/// caller, on the caller's thread.
class LetterReplays {
 public:
  /// `owner`: of the leases, unique to the process (store::process_name). The session outlives it.
  /// Throws store::SqlError.
  LetterReplays(store::Session& session, std::string owner);

  /// See replay_letter.
  ReplayedLetter replay(std::int64_t id);

 private:
  store::Session& session_;
  const store::ReplayLease lease_;
  store::ServerClock clock_;
  const std::shared_ptr<const store::Filter> filter_;
  const std::unique_ptr<resolve::SharedIds> ids_;
  writer::AddedLexicons lexicons_;
};

}  // namespace skua::backfill
