#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <termios.h>

#include "top/frame.hpp"

namespace skua::cli {

/// The terminal of a command that draws on the whole screen. While it exists, the screen is another
/// one than that of the shell, keys arrive at once, and signals arrive as events. The former state
/// is restored at its end, while the process is stopped (Ctrl-Z), and before a crash. One per
/// process, on the main thread. Construct it before any other thread starts: threads inherit the
/// mask of signals.
class Terminal {
 public:
  /// Whether stdin and stdout are terminals that can move the cursor.
  static bool is_available();

  /// Throws std::system_error.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// At most 500 rows and 1,000 columns; 24 and 80 if it is not known.
  static top::Size size();
  /// Not if NO_COLOR is set (no-color.org).
  static bool has_colours();

  /// Writes sequences and text. After a failure, and after a signal to end, it does nothing.
  void write(std::string_view text);

  struct Event {
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT arrived, or the terminal is gone.
    bool is_over = false;
    /// The content of the screen is not known any more.
    bool is_redraw_due = false;
    /// The bytes of keys.
    std::string keys;
  };
  /// Waits until something happens, at most for `time`.
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
