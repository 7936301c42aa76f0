#pragma once

#include <nlohmann/json_fwd.hpp>

#include "postgres/session.hpp"

namespace skua::pages {

/// Reads the newest rows for the dashboard: the newest `posts` (`at`, `name`, `text`, `uri`), and
/// the `dead_letters` (`id`, `at`, `did`, `origin`, `status`, `error`) of the newest thousand that
/// are not finished. Reads few rows, by indexes. The texts come from the network unchanged. Throws
/// postgres::SqlError.
nlohmann::json read_latest(postgres::Session& session);

}  // namespace skua::pages
