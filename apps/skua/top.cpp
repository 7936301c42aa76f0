#include <algorithm>
#include <chrono>
#include <semaphore>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "addresses.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "commands.hpp"
#include "settings.hpp"
#include "terminal.hpp"
#include "top/frame.hpp"
#include "top/model.hpp"
#include "top/poller.hpp"
#include "top/view.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

using skua::top::View;

const Option<std::chrono::seconds> kEvery({.name = "--every",
                                           .type = "DURATION",
                                           .meaning = "Interval at which the pages are read",
                                           .default_value = "2s"},
                                          duration_in(View::kShortest, View::kLongest));
const Option<bool> kOnce(
    {.name = "--once",
     .meaning = "Print a report and end; the default if stdin or stdout is not a terminal"});

/// The process that `skua top` observes.
struct TopTarget {
  /// The URL of the pages, without a slash at the end.
  std::string origin;
  std::string ca_file;
  std::chrono::seconds every{2};
};

/// The width of a report that is not shown on a terminal, in columns.
constexpr std::size_t kColumns = 120;

/// Reads pages and waits for their answers. One thread.
class Reader {
 public:
  explicit Reader(const TopTarget& target)
      : poller_({.origin = target.origin, .ca_file = target.ca_file, .on_answer = [this] {
                   answers_.release();
                 }}) {}

  skua::top::Snapshot read() {
    for (const auto page : skua::top::kPages) poller_.ask(page);
    for (std::size_t i = 0; i < skua::top::kPages.size(); ++i) answers_.acquire();
    for (const auto& answer : poller_.take()) model_.add(answer);
    return model_.snapshot(std::chrono::steady_clock::now());
  }

 private:
  std::counting_semaphore<> answers_{0};
  skua::top::Model model_;
  skua::top::Poller poller_;
};

int print_report(const TopTarget& target) {
  const auto snapshot = Reader(target).read();
  if (snapshot.process.failing_for) {
    print_error(fmt::format("{}: {} (--http names the pages of `skua run` or `skua serve`)",
                            target.origin, snapshot.process.failure));
    return kFailure;
  }
  const std::size_t columns = ::isatty(STDOUT_FILENO) == 1 ? Terminal::size().columns : kColumns;
  const skua::top::Origin origin{target.origin, system_clock().now()};
  for (const auto& line : skua::top::make_report(snapshot, origin, columns)) {
    fmt::print("{}\n", line.text());
  }
  return snapshot.is_ready() ? kSuccess : kFailure;
}

using namespace std::chrono_literals;
using skua::top::Page;
using SteadyClock = std::chrono::steady_clock;

/// The pages of the database are read at most this often, because they cost queries.
constexpr std::chrono::seconds kDatabaseEvery{4};
/// The ages of numbers are drawn at least this often.
constexpr auto kDrawEvery = 1s;
/// The bytes of a key follow each other within this time.
constexpr auto kWithinKey = 50ms;

/// Reads the pages, draws them, and handles the keys. Used by the main thread.
class TopScreen {
 public:
  explicit TopScreen(const TopTarget& target)
      : target_(target),
        poller_({.origin = target.origin, .ca_file = target.ca_file, .on_answer = [this] {
                   terminal_.wake();
                 }}) {
    view_.every = target.every;
  }

  void run() {
    while (!view_.is_over) {
      ask();
      draw();
      const auto time = keys_.is_within_key() ? kWithinKey : until_next();
      handle(terminal_.wait(time));
      for (const auto& answer : poller_.take()) model_.add(answer);
    }
  }

 private:
  void ask() {
    const auto now = SteadyClock::now();
    const bool is_due = std::exchange(view_.is_due, false);
    if (is_due || now - process_asked_at_ >= view_.every) {
      process_asked_at_ = now;
      poller_.ask(Page::Health);
      poller_.ask(Page::Process);
    }
    if (is_due || now - database_asked_at_ >= std::max(view_.every, kDatabaseEvery)) {
      database_asked_at_ = now;
      poller_.ask(Page::Status);
      poller_.ask(Page::Latest);
    }
  }

  std::chrono::milliseconds until_next() const {
    const auto due = process_asked_at_ + view_.every - SteadyClock::now();
    return std::clamp<std::chrono::milliseconds>(std::chrono::ceil<std::chrono::milliseconds>(due),
                                                 0ms, kDrawEvery);
  }

  void draw() {
    if (!view_.is_paused || !has_snapshot_) {
      snapshot_ = model_.snapshot(SteadyClock::now());
      at_ = system_clock().now();
      has_snapshot_ = true;
    }
    auto frame = skua::top::make_frame(snapshot_, view_, {target_.origin, at_}, Terminal::size());
    view_.scroll = std::min(view_.scroll, frame.most_scroll);
    page_ = frame.page;
    const bool has_colours = Terminal::has_colours();
    terminal_.write(is_known_ ? skua::top::screen_text(drawn_, frame.lines, has_colours)
                              : skua::top::whole_screen_text(frame.lines, has_colours));
    drawn_ = std::move(frame.lines);
    is_known_ = true;
  }

  void handle(const Terminal::Event& event) {
    if (event.is_over) view_.is_over = true;
    if (event.is_redraw_due) is_known_ = false;
    auto actions = event.keys.empty() ? keys_.flush() : keys_.read(event.keys);
    for (const auto action : actions) {
      view_.apply(action, page_);
      if (action == skua::top::Action::Refresh) is_known_ = false;
    }
  }

  const TopTarget& target_;
  // The terminal must be constructed before the threads of the poller start.
  Terminal terminal_;
  skua::top::KeyReader keys_;
  skua::top::View view_;
  skua::top::Model model_;
  SteadyClock::time_point process_asked_at_;
  SteadyClock::time_point database_asked_at_;
  skua::top::Snapshot snapshot_;
  Timestamp at_;
  bool has_snapshot_ = false;
  std::vector<skua::top::Line> drawn_;
  /// True if the screen shows `drawn_`.
  bool is_known_ = false;
  std::size_t page_ = 0;
  // The poller must be the last member, because its callbacks use the other members.
  skua::top::Poller poller_;
};

int show_screen(const TopTarget& target) {
  // The log is switched off, because its lines would appear between those of the screen.
  set_log_level("off");
  TopScreen(target).run();
  return kSuccess;
}

int top(const Invocation& invocation) {
  const TopTarget target{
      .origin = pages_origin(invocation[kHttp].value_or(SettingValue{kDefaultPages, kHttp.name})),
      .ca_file = invocation[kCaFile],
      .every = invocation[kEvery]};
  return invocation[kOnce] || !Terminal::is_available() ? print_report(target)
                                                        : show_screen(target);
}

}  // namespace

CommandSpecs top_commands() {
  const OptionUse http{
      kHttp,
      {.type = "URL",
       .meaning = "Pages of skua run or skua serve: ADDRESS:PORT or an http or https URL",
       .default_text = "http://127.0.0.1:2580"}};
  return {{"top",
           "Show the dashboard of a running process in the terminal",
           {http, kCaFile, kEvery, kOnce},
           top}};
}

}  // namespace skua::cli
