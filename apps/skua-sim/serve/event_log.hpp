#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace skua::sim {

/// A log of the simulator's actions, one JSON object per line, for tests; each line is flushed at
/// once. Appends to a file, or writes to stderr. One thread.
class EventLog {
 public:
  /// If `path` is empty: stderr. Throws std::runtime_error if the file cannot be written.
  explicit EventLog(const std::filesystem::path& path) {
    if (path.empty()) return;
    file_.open(path, std::ios::app);
    if (!file_) throw std::runtime_error("cannot write the log " + path.string());
  }

  void write(const nlohmann::ordered_json& event) {
    std::ostream& out = file_.is_open() ? static_cast<std::ostream&>(file_) : std::cerr;
    using Json = nlohmann::ordered_json;
    out << event.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }

 private:
  std::ofstream file_;
};

}  // namespace skua::sim
