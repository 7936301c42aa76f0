#include "input_file.hpp"

#include <cerrno>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "settings.hpp"

namespace skua::cli {

void require_file(const std::string& origin, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    error = std::make_error_code(std::errc::is_a_directory);
  } else if (::access(file.c_str(), R_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  } else {
    return;
  }
  throw UsageError(
      fmt::format("{}: '{}' cannot be read: {}", origin, file.string(), error.message()));
}

}  // namespace skua::cli
