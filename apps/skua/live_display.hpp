#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace skua::cli {

/// A few lines at the end of a terminal that are redrawn in place, below the lines of the log. With
/// --quiet, or if stdout is not a terminal, it does nothing. One per process, on the main thread.
class LiveDisplay {
 public:
  LiveDisplay();
  /// Leaves the last lines on the screen, and the cursor below them.
  ~LiveDisplay();
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  /// Whether it draws on a terminal.
  bool is_live() const { return is_live_; }
  /// The current width of a line in characters.
  std::size_t width() const;

  void draw(std::vector<std::string> lines);
  /// Removes the lines, before other output.
  void clear();

 private:
  void erase_locked();
  void print_locked();

  const bool is_live_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  /// The number of lines on the screen.
  std::size_t shown_ = 0;
};

}  // namespace skua::cli
