#pragma once

#include <nlohmann/json_fwd.hpp>

#include "store/session.hpp"

namespace skua::pages {

/// What the dashboard shows of the newest rows: `posts` (`at`, `name`, `text`, `uri`), a sample in
/// the order of indexing, and `dead_letters` (`id`, `at`, `did`, `origin`, `status`, `error`) that
/// are not finished. Reads a few rows by an index. Texts are those of the network. Throws
/// store::SqlError.
nlohmann::json read_latest(store::Session& session);

}  // namespace skua::pages
