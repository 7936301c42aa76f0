#include "watch_backfill.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "command_line/finish.hpp"
#include "settings.hpp"
#include "status/backfill_text.hpp"

namespace skua::cli {

namespace {

std::atomic<bool> quiet_is_set{false};

std::string as_json(std::string_view level, std::string_view line) {
  return json_line(
      {.time = system_clock().now(), .level = level, .component = "skua", .message = line});
}

constexpr std::chrono::milliseconds kHistoryPoll{20};
constexpr std::chrono::milliseconds kRedraw{500};
constexpr std::chrono::seconds kCountInterval{1};

bool can_be_drawn_on() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return size;
}

/// A few lines at the end of a terminal that are redrawn in place, below the lines of the log. With
/// --quiet, or if stdout is not a terminal, the class does nothing. One per process, on the main
/// thread.
class LiveDisplay {
 public:
  LiveDisplay() : is_live_(!is_quiet() && can_be_drawn_on()) {
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
  /// Leaves the last lines on the screen, and moves the cursor below them.
  ~LiveDisplay() {
    if (is_live_) set_log_frame({}, {});
  }
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  /// Returns whether the lines are drawn on a terminal.
  bool is_live() const { return is_live_; }
  /// Returns the current width of a line in characters. The last column stays free, because some
  /// terminals wrap automatically.
  std::size_t width() const { return std::max<std::size_t>(size_of_terminal().ws_col, 2) - 1; }

  void draw(std::vector<std::string> lines) {
    if (!is_live_) return;
    // Lines that have scrolled off the top cannot be redrawn.
    const std::size_t rows = std::max<std::size_t>(size_of_terminal().ws_row, 2) - 1;
    if (lines.size() > rows) lines.resize(rows);
    const std::scoped_lock lock(mutex_);
    erase_locked();
    lines_ = std::move(lines);
    print_locked();
  }
  /// Removes the lines. To be called before other output.
  void clear() { draw({}); }

 private:
  // A failed write must not throw here, because an exception would keep the lock of a log line. The
  // failure is reported at the end of the program.
  void erase_locked() {
    if (shown_ > 0) std::fputs(fmt::format("\x1b[{}A\r\x1b[J", shown_).c_str(), stdout);
    shown_ = 0;
    std::fflush(stdout);
  }

  void print_locked() {
    for (const std::string& line : lines_) std::fputs((line + '\n').c_str(), stdout);
    shown_ = lines_.size();
    std::fflush(stdout);
  }

  const bool is_live_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  /// The number of lines on the screen.
  std::size_t shown_ = 0;
};

}  // namespace

void set_quiet(bool quiet) {
  quiet_is_set = quiet;
}

bool is_quiet() {
  return quiet_is_set;
}

void print_progress(std::string_view line, std::FILE* stream) {
  if (is_quiet()) return;
  const std::string text = log_is_json() ? as_json("info", line) : std::string(line);
  // A failure is reported at the end of the program (command_line::finish).
  std::fputs((text + '\n').c_str(), stream);
  std::fflush(stream);
}

void print_last_line(std::string_view line) {
  fmt::print("{}\n", log_is_json() ? as_json("info", line) : std::string(line));
}

void print_error(std::string_view message) {
  command_line::print_stderr(
      "{}\n", log_is_json() ? as_json("error", message) : fmt::format("skua: {}", message));
}

std::unique_ptr<accounts::AccountSource> backfill_accounts(const Invocation& invocation,
                                                           const std::string& database_url) {
  if (const auto did_docs = invocation[kDidDocs]) {
    auto documents = document_accounts(*did_docs);
    if (const std::string& problem = documents->problem(); !problem.empty()) {
      command_line::print_stderr("skua: {}\n", problem);
    }
    return documents;
  }
  auto accounts = network_accounts(invocation);
  accounts.database_url = database_url;
  return std::make_unique<accounts::NetworkAccounts>(accounts, system_clock());
}

bool watch_backfill(const app::BackfillRun& backfill, std::chrono::seconds every,
                    StopSignal& stop_signal, const std::function<std::string()>& look) {
  LiveDisplay display;
  auto line_at = std::chrono::steady_clock::now();
  auto draw_at = line_at;
  auto look_at = line_at;
  bool stopping = false;
  while (!stopping && !backfill.is_idle() && !backfill.reason_to_stop()) {
    stopping = stop_signal.wait_for(kHistoryPoll);
    const auto now = std::chrono::steady_clock::now();
    if (look && now - look_at >= kCountInterval) {
      look_at = now;
      if (const std::string text = look(); !text.empty()) {
        display.clear();
        print_progress(text);
      }
    }
    if (display.is_live() && now - draw_at >= kRedraw) {
      display.draw(status::backfill_screen(backfill.moment(), display.width()));
      draw_at = now;
    } else if (!display.is_live() && now - line_at >= every) {
      print_progress(status::backfill_line(backfill.moment()));
      line_at = now;
    }
  }
  display.clear();
  return stopping;
}

}  // namespace skua::cli
