#pragma once

namespace skua::command_line {

/// The exit code of a program that ended with `code`. If writing to stdout failed, it is 1 instead
/// of 0, and the error goes to stderr. Call it last in `main`.
int finish(const char* program, int code);

/// True after a failed write to stdout: further output is pointless.
bool output_failed();

}  // namespace skua::command_line
