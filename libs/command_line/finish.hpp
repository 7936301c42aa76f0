#pragma once

namespace skua::command_line {

/// The exit code of a program whose work ended with `code`: 1 instead of 0 when something that it
/// wrote to stdout did not get there, which it says on stderr. The last thing that `main` does.
int finish(const char* program, int code);

/// True after a failed write to stdout: nobody reads the rest.
bool output_failed();

}  // namespace skua::command_line
