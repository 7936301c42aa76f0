#include "top/line.hpp"

#include "command_line/display_text.hpp"

namespace skua::top {
namespace {

constexpr std::size_t kMostOfLine = 1'000;

}  // namespace

Line& Line::add(std::string_view text, Style style) {
  std::string shown = command_line::cell_text(text, kMostOfLine);
  if (shown.empty()) return *this;
  width_ += command_line::display_width(shown);
  spans_.push_back({std::move(shown), style});
  return *this;
}

Line& Line::add(const Line& other) {
  spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end());
  width_ += other.width_;
  return *this;
}

Line& Line::pad(std::size_t columns, Style style) {
  if (width_ >= columns) return *this;
  spans_.push_back({std::string(columns - width_, ' '), style});
  width_ = columns;
  return *this;
}

Line& Line::cut(std::size_t columns) {
  if (width_ <= columns) return *this;
  std::size_t used = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::size_t width = command_line::display_width(spans_[i].text);
    if (used + width > columns || (used + width == columns && i + 1 < spans_.size())) {
      // The mark of the cut needs a column, also if this text would just fit.
      const std::size_t left = columns - used;
      std::string cut = command_line::cut_text(spans_[i].text + " ", left);
      used += command_line::display_width(cut);
      spans_[i].text = std::move(cut);
      spans_.resize(i + 1);
      break;
    }
    used += width;
  }
  width_ = used;
  return *this;
}

std::string Line::text() const {
  std::string all;
  for (const Span& span : spans_) all += span.text;
  all.erase(all.find_last_not_of(' ') + 1);
  return all;
}

}  // namespace skua::top
