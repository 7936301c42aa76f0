#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "store/session.hpp"

namespace skua::app {

/// Watches how fast the database grows on disk, on a connection of its own. One thread. Never
/// throws: a figure for people is no reason to stop.
class DiskSize {
 public:
  explicit DiskSize(std::string database_url) : database_url_(std::move(database_url)) {}

  /// Bytes by which the database grew since the last call; nothing at the first call and when it
  /// cannot be asked.
  std::optional<std::int64_t> growth();

 private:
  std::optional<std::int64_t> size();

  const std::string database_url_;
  std::unique_ptr<store::Session> session_;
  std::optional<std::int64_t> last_;
};

}  // namespace skua::app
