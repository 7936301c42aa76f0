#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace skua::cli {

/// A few lines at the end of a terminal that are drawn anew in place; lines of the log go above
/// them. With --quiet, or where stdout is not a terminal, it does nothing. One a process, on the
/// main thread.
class LiveDisplay {
 public:
  LiveDisplay();
  /// Leaves what was drawn last, and the cursor below it.
  ~LiveDisplay();
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  /// Whether it draws.
  bool is_live() const { return is_live_; }
  /// Characters of a line, at this moment.
  std::size_t width() const;

  void draw(std::vector<std::string> lines);
  /// Takes the lines away, for something that is printed once.
  void clear();

 private:
  void erase_locked();
  void print_locked();

  const bool is_live_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  /// How many lines are on the screen.
  std::size_t shown_ = 0;
};

}  // namespace skua::cli
