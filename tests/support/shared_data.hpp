#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::test {

/// The folder of public test data that lies beside the checkout on some machines and is never part
/// of it: $SKUA_SHARED, else ../shared. Nothing when it is not there.
inline std::optional<std::filesystem::path> shared_dir() {
  const char* chosen = std::getenv("SKUA_SHARED");
  std::filesystem::path path = chosen != nullptr ? chosen : "../shared";
  if (!std::filesystem::is_directory(path / "data")) return std::nullopt;
  return std::filesystem::absolute(path);
}

/// True when a missing shared folder is a failure, as in CI.
inline bool shared_is_required() {
  const char* required = std::getenv("SKUA_REQUIRE_SHARED");
  return required != nullptr && std::string(required) == "1";
}

inline std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace skua::test

/// Ends the test as skipped, or as failed where the data is required, when ../shared is not there.
#define SKUA_NEED_SHARED()                                               \
  do {                                                                   \
    if (!skua::test::shared_dir()) {                                     \
      if (skua::test::shared_is_required()) FAIL() << "needs ../shared"; \
      GTEST_SKIP() << "needs ../shared";                                 \
    }                                                                    \
  } while (false)
