#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <termios.h>

#include "top/frame.hpp"

namespace skua::cli {

/// The terminal of a command that draws on the whole screen. While the object exists, the terminal
/// shows the alternate screen, keys arrive at once, and signals arrive as events. The former state
/// is restored at its end, while the process is stopped (Ctrl-Z), and before a crash. One per
/// process, on the main thread. Must be constructed before any other thread starts, because threads
/// inherit the mask of signals.
class Terminal {
 public:
  /// Returns whether stdin and stdout are terminals that can move the cursor.
  static bool is_available();

  /// Changes the terminal. Throws std::system_error.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Returns the size: at most 500 rows and 1,000 columns; 24 and 80 if the size is unknown.
  static top::Size size();
  /// Returns false if NO_COLOR is set (no-color.org).
  static bool has_colours();

  /// Writes sequences and text. After a failure, and after a signal to end, the function does
  /// nothing.
  void write(std::string_view text);

  struct Event {
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT arrived, or the terminal has gone.
    bool is_over = false;
    /// True if the content of the screen is unknown, so that it must be drawn completely.
    bool is_redraw_due = false;
    /// The bytes of pressed keys.
    std::string keys;
  };
  /// Waits until an event occurs, at most for `time`.
  Event wait(std::chrono::milliseconds time);

  /// Ends a wait. Any thread.
  void wake() const;

 private:
  void enter();
  void leave();
  void take_signals(Event& event);
  void take_signal(int number, Event& event);
  void take_keys(Event& event);

  termios former_{};
  sigset_t former_mask_{};
  int signals_ = -1;
  int woken_ = -1;
  bool is_over_ = false;
};

}  // namespace skua::cli
