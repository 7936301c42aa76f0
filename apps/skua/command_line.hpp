#pragma once

namespace skua::cli {

/// Parses the command line, reads the settings, and runs the command. Returns the exit code. Throws
/// UsageError for a wrong command line, std::exception if the command fails.
int run_command_line(int argc, char** argv);

}  // namespace skua::cli
