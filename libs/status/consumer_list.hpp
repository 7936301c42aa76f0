#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "store/session.hpp"

namespace skua::status {

/// The consumers of the change log: an array of objects. `state`, `code`, `reason` and `cure` are
/// those of feed::judge_consumer. Throws store::SqlError.
nlohmann::json read_consumer_list(store::Session& session);

/// A table with a line for each consumer, and below it why it does not work and what to do. Empty:
/// there are none.
std::string consumer_list_text(const nlohmann::json& consumers, std::size_t indent = 0);

/// All values of the consumers with this name, a line for each lane included.
std::string consumer_text(const nlohmann::json& consumer);

}  // namespace skua::status
