#include "progress.hpp"

#include <atomic>

#include <fmt/format.h>

namespace skua::cli {
namespace {

std::atomic<bool> quiet_is_set{false};

}  // namespace

void set_quiet(bool quiet) {
  quiet_is_set = quiet;
}

bool is_quiet() {
  return quiet_is_set;
}

void print_progress(std::string_view line, std::FILE* stream) {
  if (is_quiet()) return;
  fmt::print(stream, "{}\n", line);
  std::fflush(stream);
}

}  // namespace skua::cli
