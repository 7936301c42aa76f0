#include "command_line/finish.hpp"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>
#include <system_error>

namespace skua::command_line {

bool output_failed() {
  return std::ferror(stdout) != 0 || !std::cout;
}

void write_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

int finish(const char* program, int code) {
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (is_flushed && !output_failed()) return code;
  // If an earlier write failed, only the failure is known, and not its reason.
  const std::string reason =
      is_flushed ? std::string() : ": " + std::generic_category().message(error);
  print_stderr("{}: cannot write to stdout{}\n", program, reason);
  return code == 0 ? 1 : code;
}

}  // namespace skua::command_line
