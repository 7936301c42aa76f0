#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::top {

/// The actions that keys request.
enum class Action : std::uint8_t {
  Quit,
  Pause,
  Refresh,
  Faster,
  Slower,
  Help,
  Overview,
  NextSection,
  PreviousSection,
  Up,
  Down,
  PageUp,
  PageDown,
  First,
  Last,
  /// Section1 and the following numbers select the section with this number.
  Section1,
};

/// The choices of the user. One thread.
struct View {
  static constexpr std::chrono::seconds kShortest{1};
  static constexpr std::chrono::seconds kLongest{60};

  /// The section that is shown alone; 0 for the overview.
  std::size_t section = 0;
  /// The number of lines of the section above the screen.
  std::size_t scroll = 0;
  bool is_paused = false;
  bool shows_help = false;
  bool is_over = false;
  /// True if the pages must be read now.
  bool is_due = false;
  std::chrono::seconds every{2};

  /// Applies an action. `page` is the number of lines of a page.
  void apply(Action action, std::size_t page);

 private:
  void apply_to_pages(Action action);
  void scroll_by(Action action, std::size_t page);
  void show(std::size_t number);
};

/// Reads keys from the bytes that a terminal sends (ECMA-48, and xterm's keys of applications).
/// Unknown keys are ignored. One thread.
class KeyReader {
 public:
  std::vector<Action> read(std::string_view bytes);

  /// Returns whether the bytes end within a key. If no others follow at once, the caller must call
  /// `flush`.
  bool is_within_key() const { return !rest_.empty(); }
  /// Ends an incomplete key. A single Escape byte is the key Escape; longer rests are dropped.
  std::vector<Action> flush();

 private:
  std::string rest_;
};

}  // namespace skua::top
