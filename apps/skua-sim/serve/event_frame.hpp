#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"

namespace skua::sim {

// Frames of an event stream (atproto.com/specs/event-stream), limited to the needs of a server that
// only forwards them.

/// The `seq` of a frame's body. Nothing: it has none (as #info), or the frame is unreadable.
std::optional<std::int64_t> read_seq(ByteView frame);

/// The frame with a changed byte in the middle of its `blocks`, or in the middle of the frame if it
/// has none.
Bytes corrupted(ByteView frame);

/// `{op: -1}` and `{error, message}`: the last frame of a connection that the server ends.
Bytes error_frame(std::string_view name, std::string_view message);

/// `{op: 1, t: "#info"}` and `{name, message}`.
Bytes info_frame(std::string_view name, std::string_view message);

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
