#include "export_progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawn{500};
constexpr std::chrono::seconds kLineInterval{10};

std::string amount_text(const ExportProgress::State& state) {
  const auto rows = static_cast<std::int64_t>(state.rows);
  return fmt::format("{} {}, {}", with_commas(rows), noun_for(rows, "row"),
                     size_text(static_cast<double>(state.bytes)));
}

}  // namespace

ExportProgress::ExportProgress(const Clock& clock, State begun, bool can_redraw)
    : clock_(clock),
      begun_(begun),
      started_(clock.now()),
      is_redrawn_(can_redraw && !is_quiet() && ::isatty(STDERR_FILENO) == 1),
      shown_(started_) {}

ExportProgress::~ExportProgress() {
  erase();
}

void ExportProgress::erase() {
  if (is_drawn_) command_line::write_stderr("\r\x1b[K");
  is_drawn_ = false;
}

double ExportProgress::rate(const State& state) const {
  const double seconds = std::chrono::duration<double>(clock_.now() - started_).count();
  return static_cast<double>(state.rows - begun_.rows) / std::max(seconds, 1e-3);
}

void ExportProgress::show(const State& state) {
  const Timestamp now = clock_.now();
  if (now - shown_ < (is_redrawn_ ? kRedrawn : std::chrono::milliseconds(kLineInterval))) return;
  shown_ = now;
  std::string line;
  if (state.part) line = fmt::format("{} % of the keys, ", std::floor(*state.part * 100));
  line += fmt::format("{}, {} rows/s", amount_text(state), with_commas(std::llround(rate(state))));
  if (!is_redrawn_) {
    print_progress(line, stderr);
    return;
  }
  erase();
  command_line::write_stderr(line);
  is_drawn_ = true;
}

void ExportProgress::finish(const State& state) {
  erase();
  const double seconds = std::chrono::duration<double>(clock_.now() - started_).count();
  print_progress(fmt::format("{} in {:.1f} s, {} rows/s", amount_text(state), seconds,
                             with_commas(std::llround(rate(state)))),
                 stderr);
}

}  // namespace skua::cli
