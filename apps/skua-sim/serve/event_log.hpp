#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace skua::sim {

/// What the simulator did, one JSON object a line, for tests to read; each line is written out at
/// once. To a file (appended to), else to stderr. One thread.
class EventLog {
 public:
  /// `path` empty: stderr. Throws std::runtime_error when the file cannot be written.
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
