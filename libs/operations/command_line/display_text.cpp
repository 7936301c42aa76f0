#include "command_line/display_text.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <unistd.h>

#include "base/text.hpp"

namespace skua::command_line {

namespace {

constexpr std::string_view kCut = "…";
constexpr UChar32 kEmojiStyle = 0xfe0f;
constexpr std::size_t kMostMarks = 3;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Returns the code point at `place`, and moves `place` behind it. `text` is UTF-8.
UChar32 next_code_point(std::string_view text, std::size_t& place) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<std::int64_t>(text.size());
  auto at = static_cast<std::int64_t>(place);
  UChar32 c = 0;
  U8_NEXT_OR_FFFD(bytes, at, size, c);
  place = static_cast<std::size_t>(at);
  return c;
}

bool is_mark(UChar32 c) {
  const auto type = u_charType(c);
  return c != kEmojiStyle && (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK);
}

std::size_t width_of(UChar32 c) {
  if (c < 0x300) return 1;
  // The later parts of a Hangul syllable join the first part, so they take no columns.
  constexpr UChar32 kFirstVowel = 0x1160;
  constexpr UChar32 kLastFinal = 0x11ff;
  const auto type = u_charType(c);
  if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR ||
      (c >= kFirstVowel && c <= kLastFinal)) {
    return 0;
  }
  const auto width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

std::size_t width_of_cluster(std::string_view cluster) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < cluster.size() && width < 2;) {
    const UChar32 c = next_code_point(cluster, i);
    width = c == kEmojiStyle ? 2 : width + width_of(c);
  }
  return std::min<std::size_t>(width, 2);
}

/// Finds the ends of clusters. Each thread keeps its own instance, because creating one is slow.
class ClusterEnds {
 public:
  ClusterEnds() {
    UErrorCode status = U_ZERO_ERROR;
    iterator_.reset(ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status));
    require_success(status);
  }

  std::vector<std::size_t> of(std::string_view text) {
    UErrorCode status = U_ZERO_ERROR;
    UText input = UTEXT_INITIALIZER;
    utext_openUTF8(&input, text.data(), static_cast<std::int64_t>(text.size()), &status);
    require_success(status);
    ubrk_setUText(iterator_.get(), &input, &status);
    std::vector<std::size_t> ends;
    for (auto end = ubrk_next(iterator_.get()); end != UBRK_DONE;
         end = ubrk_next(iterator_.get())) {
      ends.push_back(static_cast<std::size_t>(end));
    }
    utext_close(&input);
    require_success(status);
    return ends;
  }

 private:
  static void require_success(UErrorCode status) {
    if (U_FAILURE(status)) {
      throw std::runtime_error(std::string("ICU cannot read a text: ") + u_errorName(status));
    }
  }

  struct Close {
    void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
  };
  std::unique_ptr<UBreakIterator, Close> iterator_;
};

struct Cluster {
  std::string_view text;
  std::size_t width = 0;
};

std::vector<Cluster> clusters_of(std::string_view text) {
  std::vector<Cluster> clusters;
  if (is_ascii(text)) {
    clusters.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) clusters.push_back({text.substr(i, 1), 1});
    return clusters;
  }
  thread_local ClusterEnds ends;
  std::size_t begin = 0;
  for (const std::size_t end : ends.of(text)) {
    const std::string_view cluster = text.substr(begin, end - begin);
    clusters.push_back({cluster, width_of_cluster(cluster)});
    begin = end;
  }
  return clusters;
}

/// Returns the size in bytes of the longest prefix of whole clusters within `columns`.
std::size_t prefix_within(const std::vector<Cluster>& clusters, std::size_t columns) {
  std::size_t bytes = 0;
  std::size_t width = 0;
  for (const Cluster& cluster : clusters) {
    width += cluster.width;
    if (width > columns) break;
    bytes += cluster.text.size();
  }
  return bytes;
}

/// Returns where a line of the text ends: before a blank, or within a word that is longer than a
/// line.
std::size_t line_end(std::string_view text, std::size_t columns) {
  const auto clusters = clusters_of(text);
  const std::size_t within = prefix_within(clusters, columns);
  if (within == text.size()) return within;
  const std::size_t blank = text.rfind(' ', within);
  if (blank != std::string_view::npos && blank > 0) return blank;
  // A cluster of two columns does not fit into one column. The line takes it anyway, because the
  // text could never advance otherwise.
  return std::max(within, clusters.front().text.size());
}

constexpr std::size_t kGap = 2;

}  // namespace

std::string cell_text(std::string_view text, std::size_t characters) {
  std::string shown = printable(text, characters);
  if (is_ascii(shown)) return shown;
  std::string kept;
  std::size_t marks = 0;
  for (std::size_t i = 0; i < shown.size();) {
    const std::size_t begin = i;
    marks = is_mark(next_code_point(shown, i)) ? marks + 1 : 0;
    if (marks <= kMostMarks) kept.append(shown, begin, i - begin);
  }
  return kept;
}

std::size_t display_width(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::size_t width = 0;
  for (const Cluster& cluster : clusters_of(text)) width += cluster.width;
  return width;
}

std::string cut_text(std::string_view text, std::size_t columns) {
  if (columns == 0) return {};
  const auto clusters = clusters_of(text);
  if (prefix_within(clusters, columns) == text.size()) return std::string(text);
  return std::string(text.substr(0, prefix_within(clusters, columns - 1))).append(kCut);
}

std::vector<std::string> wrapped_text(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (!text.empty() && columns > 0) {
    const std::size_t end = line_end(text, columns);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return lines;
}

std::optional<std::size_t> terminal_width() {
  constexpr std::size_t kWidest = 1'000;
  if (::isatty(STDOUT_FILENO) != 1) return std::nullopt;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80;
  return std::min<std::size_t>(size.ws_col, kWidest);
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::string> heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  std::vector<std::size_t> widths(columns_.size());
  const auto measure = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i]));
    }
  };
  measure(heads);
  for (const Row& row : rows_) measure(row.cells);

  const std::string margin(indent, ' ');
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = margin;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths[i] - display_width(cells[i]), ' ');
      line += columns_[i].is_number ? blanks + cells[i] : cells[i] + blanks;
      line.append(kGap, ' ');
    }
    // Blanks after the last cell are removed.
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool has_head = std::ranges::any_of(heads, [](const auto& head) { return !head.empty(); });
  if (has_head) add_line(heads);
  for (const Row& row : rows_) {
    add_line(row.cells);
    for (const std::string& note : row.notes) {
      text.append(margin).append(4, ' ').append(note).append(1, '\n');
    }
  }
  return text;
}

}  // namespace skua::command_line
