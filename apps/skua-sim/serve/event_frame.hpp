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

// These functions treat frames of an event stream (atproto.com/specs/event-stream), as far as a
// server that only forwards frames needs them.

/// Returns the `seq` of a frame's body; nothing if the body has none (as in #info), or the frame is
/// unreadable.
std::optional<std::int64_t> read_seq(ByteView frame);

/// Returns the frame with a changed byte in the middle of its `blocks` or, without blocks, in the
/// middle of the frame.
Bytes corrupted(ByteView frame);

/// Returns a frame of `{op: -1}` and `{error, message}`: the last frame of a connection that the
/// server ends.
Bytes error_frame(std::string_view name, std::string_view message);

/// Returns a frame of `{op: 1, t: "#info"}` and `{name, message}`.
Bytes info_frame(std::string_view name, std::string_view message);

/// A log of the simulator's actions, one JSON object per line, for tests; each line is flushed at
/// once. Appends to a file, or writes to stderr. One thread.
class EventLog {
 public:
  /// Opens the file; if `path` is empty, the log goes to stderr. Throws std::runtime_error if the
  /// file cannot be written.
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
