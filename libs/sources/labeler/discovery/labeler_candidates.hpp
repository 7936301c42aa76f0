#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/session.hpp"

namespace skua::sources {

/// The active accounts with a record of app.bsky.labeler.service (`bsky.labelers`), by account
/// number: the accounts that the database knows longest come first, and no account can choose its
/// place. At most `most`. Throws SqlError.
std::vector<std::string> read_labeler_candidates(store::Session& session, std::size_t most);

}  // namespace skua::sources
