#include "live_display.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "progress.hpp"

namespace skua::cli {
namespace {

bool can_be_drawn_on() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return size;
}

}  // namespace

LiveDisplay::LiveDisplay() : is_live_(!is_quiet() && can_be_drawn_on()) {
  if (!is_live_) return;
  set_log_frame(
      [this] {
        mutex_.lock();
        erase_locked();
      },
      [this] {
        print_locked();
        mutex_.unlock();
      });
}

LiveDisplay::~LiveDisplay() {
  if (is_live_) set_log_frame({}, {});
}

std::size_t LiveDisplay::width() const {
  // The last column stays free: some terminals wrap automatically.
  return std::max<std::size_t>(size_of_terminal().ws_col, 2) - 1;
}

void LiveDisplay::draw(std::vector<std::string> lines) {
  if (!is_live_) return;
  // Lines that have scrolled off the top cannot be redrawn.
  const std::size_t rows = std::max<std::size_t>(size_of_terminal().ws_row, 2) - 1;
  if (lines.size() > rows) lines.resize(rows);
  const std::scoped_lock lock(mutex_);
  erase_locked();
  lines_ = std::move(lines);
  print_locked();
}

void LiveDisplay::clear() {
  draw({});
}

// An exception here would keep the lock of a log line; a failed write shows at the end of the
// program.
void LiveDisplay::erase_locked() {
  if (shown_ > 0) std::fputs(fmt::format("\x1b[{}A\r\x1b[J", shown_).c_str(), stdout);
  shown_ = 0;
  std::fflush(stdout);
}

void LiveDisplay::print_locked() {
  for (const std::string& line : lines_) std::fputs((line + '\n').c_str(), stdout);
  shown_ = lines_.size();
  std::fflush(stdout);
}

}  // namespace skua::cli
