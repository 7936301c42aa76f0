#pragma once

#include "init_plan.hpp"

namespace skua::cli {

/// `skua init`: asks on a terminal, writes the file of settings, and prepares the database. Returns
/// the exit code: that of `skua doctor` at the end. Throws UsageError; std::exception if a step
/// fails, before which all others stay done.
int init(const Settings& settings, const InitFlags& flags);

}  // namespace skua::cli
