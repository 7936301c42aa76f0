#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::top {

enum class Style : std::uint8_t { Plain, Title, Strong, Quiet, Good, Warn, Bad };

struct Span {
  std::string text;
  Style style = Style::Plain;
  bool operator==(const Span&) const = default;
};

/// A line of the screen. Its texts are printable, whatever was added: control characters never
/// reach the terminal. One thread.
class Line {
 public:
  Line() = default;
  explicit Line(std::string_view text, Style style = Style::Plain) { add(text, style); }

  /// Adds a text at the end; its first thousand characters count.
  Line& add(std::string_view text, Style style = Style::Plain);
  /// Adds the spans of another line.
  Line& add(const Line& other);
  /// Adds blanks until the line has this width.
  Line& pad(std::size_t columns, Style style = Style::Plain);
  /// Cuts the line to this width.
  Line& cut(std::size_t columns);

  const std::vector<Span>& spans() const { return spans_; }
  std::size_t width() const { return width_; }
  /// Without styles and without blanks at the end.
  std::string text() const;

  bool operator==(const Line&) const = default;

 private:
  std::vector<Span> spans_;
  std::size_t width_ = 0;
};

}  // namespace skua::top
