#include "top/view.hpp"

#include <algorithm>
#include <limits>

#include "top/sections.hpp"

namespace skua::top {

void View::apply(Action action, std::size_t page) {
  // Any key ends the help.
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
  // The frame limits it.
  if (action == Action::Last) scroll = std::numeric_limits<std::size_t>::max() / 2;
}

void View::show(std::size_t number) {
  section = std::min(number, kSections);
  scroll = 0;
}

}  // namespace skua::top
