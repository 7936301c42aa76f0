#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// What a database knows of one account's repository: state, head, breaks, resyncs, its job, its
/// rows by collection, whose status hides it. Reads all keys of its rows, and nothing else that
/// grows. Null: nothing is known of the account. Throws store::SqlError.
nlohmann::json read_repository_info(store::Session& session, const std::string& did);

/// The same for people, some lines. `info`: not null.
std::string repository_info_text(const nlohmann::json& info);

}  // namespace skua::status
