#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "random.hpp"
#include "subjects.hpp"

namespace skua::sim {

/// A random record of a collection that has a struct (`records::Record`), with the fields that its
/// decoder requires and no others. The decoder names a fault, the field gets a value without this
/// fault, and so on until the record is valid. References name a post or an account of the network.
/// Throws std::logic_error if the decoder reports a fault that this function cannot correct.
nlohmann::json make_minimal(Random& random, const Subjects& subjects, std::string_view nsid,
                            std::string_view rkey, Timestamp now);

}  // namespace skua::sim
