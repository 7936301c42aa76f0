#pragma once

#include <nlohmann/json_fwd.hpp>

#include "postgres/session.hpp"

namespace skua::pages {

/// What the dashboard shows of the newest rows: the newest `posts` (`at`, `name`, `text`,
/// `uri`), and `dead_letters` (`id`, `at`, `did`, `origin`, `status`, `error`) of the newest
/// thousand that are not finished. Reads few rows, by indexes. Texts are those of the network.
/// Throws postgres::SqlError.
nlohmann::json read_latest(postgres::Session& session);

}  // namespace skua::pages
