#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skua::top {

enum class Style : std::uint8_t { Plain, Title, Strong, Quiet, Good, Warn, Bad };

struct Span {
  std::string text;
  Style style = Style::Plain;
  bool operator==(const Span&) const = default;
};

/// A line of the screen. All added texts become printable, so that control characters never reach
/// the terminal. One thread.
class Line {
 public:
  Line() = default;
  explicit Line(std::string_view text, Style style = Style::Plain) { add(text, style); }

  /// Adds a text at the end. Only its first thousand characters are used.
  Line& add(std::string_view text, Style style = Style::Plain);
  /// Adds the spans of another line.
  Line& add(const Line& other);
  /// Adds blanks until the line has this width.
  Line& pad(std::size_t columns, Style style = Style::Plain);
  /// Cuts the line to this width.
  Line& cut(std::size_t columns);

  const std::vector<Span>& spans() const { return spans_; }
  std::size_t width() const { return width_; }
  /// Returns the text without styles and without blanks at the end.
  std::string text() const;

  bool operator==(const Line&) const = default;

 private:
  std::vector<Span> spans_;
  std::size_t width_ = 0;
};

/// A table with a head, which it turns into lines. Numbers are on the right of their columns. Texts
/// that do not fit are cut, the columns on the right first. One thread.
class Table {
 public:
  struct Column {
    std::string head;
    bool is_number = false;
    /// The column appears only in tables of at least this width.
    std::size_t from = 0;
  };
  struct Cell {
    std::string text;
    Style style = Style::Plain;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row. It must have as many cells as there are columns.
  void add(std::vector<Cell> cells);

  /// Returns the head and the rows; a table without rows has no lines. No line is wider than
  /// `width`.
  std::vector<Line> lines(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  using Row = std::vector<Line>;
  std::vector<Row> rows_;
};

// The functions format numbers for people in the same way as the dashboard. A missing number is
// `-`. Pure.

/// Returns a text such as `1,234.5`.
std::string number_text(std::optional<double> number, int digits = 0);
/// Returns a time such as `12 ms`, `3.4 s`, `5 min`, `6.7 h`, `8.9 d`.
std::string seconds_text(std::optional<double> seconds);
/// Returns a size, or its growth, such as `12 kB`, `-3.4 MB`.
std::string bytes_text(std::optional<double> bytes);

/// Shares `all` among parts: no part gets more than it wants, and the parts that get less than they
/// want get equal shares, with one more for earlier parts. Pure.
std::vector<std::size_t> shared_out(const std::vector<std::size_t>& wanted, std::size_t all);

/// Returns the bytes that change a terminal from one content to another: ECMA-48 sequences, which
/// all current terminals support. Only lines that differ are sent. Pure.
///
/// After a text beyond ASCII the place of the next text is sent, because a terminal may draw the
/// former text wider or narrower than expected.
std::string screen_text(const std::vector<Line>& before, const std::vector<Line>& after,
                        bool has_colours);

/// Returns the bytes that erase an unknown content and write the lines.
std::string whole_screen_text(const std::vector<Line>& lines, bool has_colours);

}  // namespace skua::top
