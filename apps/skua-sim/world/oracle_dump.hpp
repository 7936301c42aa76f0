#pragma once

#include <filesystem>

#include "population.hpp"

namespace skua::sim {

/// Writes the files of Network::dump and creates the directory if necessary. Throws
/// std::runtime_error if it cannot be written, or if the records were not kept.
void dump_oracle(Population& population, const std::filesystem::path& directory);

}  // namespace skua::sim
