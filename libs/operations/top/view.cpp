#include "top/view.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "top/sections.hpp"

namespace skua::top {
namespace {

constexpr char kEscape = '\x1b';
/// A longer sequence belongs to no known key.
constexpr std::size_t kLongest = 16;

std::optional<Action> action_of(char c) {
  if (c >= '1' && c < '1' + static_cast<int>(kSections)) {
    return static_cast<Action>(static_cast<int>(Action::Section1) + (c - '1'));
  }
  switch (c) {
    case 'q':
    case 'Q':
    case '\x03':  // Ctrl-C
      return Action::Quit;
    case 'p':
    case ' ':
      return Action::Pause;
    case 'r':
    case '\r':
    case '\n':
    case '\x0c':  // Ctrl-L
      return Action::Refresh;
    case '+':
      return Action::Slower;
    case '-':
      return Action::Faster;
    case 'h':
    case '?':
      return Action::Help;
    case '0':
      return Action::Overview;
    case '\t':
      return Action::NextSection;
    case 'k':
      return Action::Up;
    case 'j':
      return Action::Down;
    case 'g':
      return Action::First;
    case 'G':
      return Action::Last;
    default:
      return std::nullopt;
  }
}

/// Returns the action of a sequence without its introducer: `A`, `5~`.
std::optional<Action> action_of_sequence(std::string_view sequence) {
  if (sequence == "A") return Action::Up;
  if (sequence == "B") return Action::Down;
  if (sequence == "C") return Action::NextSection;
  if (sequence == "D" || sequence == "Z") return Action::PreviousSection;
  if (sequence == "H" || sequence == "1~" || sequence == "7~") return Action::First;
  if (sequence == "F" || sequence == "4~" || sequence == "8~") return Action::Last;
  if (sequence == "5~") return Action::PageUp;
  if (sequence == "6~") return Action::PageDown;
  return std::nullopt;
}

/// Returns the size of the sequence that begins `bytes` with Escape; nothing if the sequence is
/// incomplete.
std::optional<std::size_t> sequence_size(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  if (bytes[1] != '[' && bytes[1] != 'O') return 1;
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
    if (i == kLongest) return i;
  }
  return std::nullopt;
}

}  // namespace

void View::apply(Action action, std::size_t page) {
  // Any key closes the help.
  const bool had_help = shows_help;
  shows_help = action == Action::Help && !had_help;
  if (action >= Action::Section1) {
    return show(1 + static_cast<std::size_t>(action) - static_cast<std::size_t>(Action::Section1));
  }
  switch (action) {
    case Action::Quit:
      is_over = true;
      return;
    case Action::Overview:
      return show(0);
    case Action::NextSection:
      return show((section + 1) % (kSections + 1));
    case Action::PreviousSection:
      return show((section + kSections) % (kSections + 1));
    default:
      apply_to_pages(action);
      return scroll_by(action, page);
  }
}

void View::apply_to_pages(Action action) {
  if (action == Action::Pause) is_paused = !is_paused;
  if (action == Action::Refresh) is_due = true;
  if (action == Action::Faster) every = std::max(every / 2, kShortest);
  if (action == Action::Slower) every = std::min(every * 2, kLongest);
}

void View::scroll_by(Action action, std::size_t page) {
  const std::size_t step = std::max<std::size_t>(page, 1);
  if (action == Action::Up) scroll -= std::min<std::size_t>(scroll, 1);
  if (action == Action::Down) ++scroll;
  if (action == Action::PageUp) scroll -= std::min(scroll, step);
  if (action == Action::PageDown) scroll += step;
  if (action == Action::First) scroll = 0;
  // The frame reduces the value to the largest useful one.
  if (action == Action::Last) scroll = std::numeric_limits<std::size_t>::max() / 2;
}

void View::show(std::size_t number) {
  section = std::min(number, kSections);
  scroll = 0;
}

std::vector<Action> KeyReader::read(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Action> actions;
  std::string_view left = rest_;
  while (!left.empty()) {
    std::optional<Action> action;
    std::size_t size = 1;
    if (left.front() != kEscape) {
      action = action_of(left.front());
    } else if (const auto sequence = sequence_size(left)) {
      size = *sequence;
      action = size == 1 ? Action::Overview : action_of_sequence(left.substr(2, size - 2));
    } else {
      break;
    }
    if (action) actions.push_back(*action);
    left.remove_prefix(size);
  }
  rest_ = std::string(left);
  return actions;
}

std::vector<Action> KeyReader::flush() {
  const bool is_escape = rest_.size() == 1;
  rest_.clear();
  return is_escape ? std::vector{Action::Overview} : std::vector<Action>();
}

}  // namespace skua::top
