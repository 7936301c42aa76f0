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

/// A table with a head, as lines. Numbers are on the right of their columns. Texts that do not fit
/// are cut: those on the right first. One thread.
class Table {
 public:
  struct Column {
    std::string head;
    bool is_number = false;
    /// The least width of a table that has this column.
    std::size_t from = 0;
  };
  struct Cell {
    std::string text;
    Style style = Style::Plain;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<Cell> cells);

  /// The head, then the rows; a table without rows has no lines. No line is wider than `width`.
  std::vector<Line> lines(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  using Row = std::vector<Line>;
  std::vector<Row> rows_;
};

// Numbers for people, the same as those of the dashboard. Nothing: `-`. Pure.

/// `1,234.5`.
std::string number_text(std::optional<double> number, int digits = 0);
/// A time: `12 ms`, `3.4 s`, `5 min`, `6.7 h`, `8.9 d`.
std::string seconds_text(std::optional<double> seconds);
/// A size, or its growth: `12 kB`, `-3.4 MB`.
std::string bytes_text(std::optional<double> bytes);

/// Shares `all` among parts that want some of it: nobody gets more than it wants, and the parts
/// that get less than they want get the same, or one more if they are earlier. Pure.
std::vector<std::size_t> shared_out(const std::vector<std::size_t>& wanted, std::size_t all);

/// The bytes that change a terminal from one content to another: ECMA-48 sequences, which all
/// terminals of today know. Only lines that differ are sent. Pure.
///
/// The place of each text is sent after a text beyond ASCII: a terminal may draw that one wider or
/// narrower than expected.
std::string screen_text(const std::vector<Line>& before, const std::vector<Line>& after,
                        bool has_colours);

/// The same for an unknown content: it is erased first.
std::string whole_screen_text(const std::vector<Line>& lines, bool has_colours);

}  // namespace skua::top
