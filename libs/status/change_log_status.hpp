#pragma once

#include <nlohmann/json_fwd.hpp>

#include "store/session.hpp"

namespace skua::status {

/// The change log: `timeline`, the positions `oldest` and `next` (of the change that comes next),
/// the times of the oldest and the newest block (null: there is none), `bytes` on disk, `max_bytes`
/// and `retention_seconds`. A reader of the database may call it. Throws store::SqlError.
nlohmann::json read_change_log_status(store::Session& session);

}  // namespace skua::status
