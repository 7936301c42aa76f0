#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::top {

/// What a key asks for.
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
  /// And the following ones: the section with this number.
  Section1,
};

/// What the user chose to see. One thread.
struct View {
  static constexpr std::chrono::seconds kShortest{1};
  static constexpr std::chrono::seconds kLongest{60};

  /// 0: the overview; otherwise a section alone.
  std::size_t section = 0;
  /// Lines of the section above the screen.
  std::size_t scroll = 0;
  bool is_paused = false;
  bool shows_help = false;
  bool is_over = false;
  /// The pages are read now.
  bool is_due = false;
  std::chrono::seconds every{2};

  /// `page`: the lines that a page has.
  void apply(Action action, std::size_t page);

 private:
  void apply_to_pages(Action action);
  void scroll_by(Action action, std::size_t page);
  void show(std::size_t number);
};

/// Reads keys from the bytes that a terminal sends (ECMA-48, and xterm's keys of applications).
/// Unknown keys are left out. One thread.
class KeyReader {
 public:
  std::vector<Action> read(std::string_view bytes);

  /// Whether the bytes end within a key: call `flush` if no others follow at once.
  bool is_within_key() const { return !rest_.empty(); }
  /// The key whose bytes began: Escape, if it was that.
  std::vector<Action> flush();

 private:
  std::string rest_;
};

}  // namespace skua::top
