#pragma once

#include <filesystem>

#include "population.hpp"

namespace skua::sim {

/// Writes what Network::dump says, making the directory if need be. Throws std::runtime_error when
/// it cannot be written, or when the records were not kept.
void dump_oracle(Population& population, const std::filesystem::path& directory);

}  // namespace skua::sim
