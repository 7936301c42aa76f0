#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// Reads the state of one account's repository: state, head, breaks, resyncs, its job, its rows by
/// collection, and the hosting status. Reads the keys of all its rows. Null: the account is not
/// known. Throws store::SqlError.
nlohmann::json read_repository_info(store::Session& session, const std::string& did);

/// The same for people, some lines. `info`: not null.
std::string repository_info_text(const nlohmann::json& info);

}  // namespace skua::status
