#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/purge.hpp"

namespace skua::writer {

/// What `write_account_changes` did.
struct AccountsWritten {
  std::size_t accounts = 0;
  /// Deleted accounts: their floor is set, and once that is committed their records are to go.
  std::vector<Purge> purges;
};

/// Stores what `#identity` and `#account` events say in `bsky.actors`: the handle and the hosting
/// status. The newest event wins by the time its host gave it, so that a replay changes nothing.
/// Who has a handle that several claim: see writer/handle_claims.hpp; an empty one is none. Of a
/// deleted account the floor is raised to the newest revision that came before (`now` bounds it
/// where that is not known). The job (`skua.backfill_jobs`) of an account that is active, whose
/// host gave nothing before, is queued again. Events of other kinds among `events` are passed over.
AccountsWritten write_account_changes(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> events,
                                      Timestamp now);

}  // namespace skua::writer
