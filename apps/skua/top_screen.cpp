#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.hpp"
#include "base/time.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "top.hpp"
#include "top/frame.hpp"
#include "top/key_reader.hpp"
#include "top/model.hpp"
#include "top/poller.hpp"
#include "top/screen_text.hpp"
#include "top/view.hpp"

namespace skua::cli {
namespace {

using namespace std::chrono_literals;
using skua::top::Page;
using SteadyClock = std::chrono::steady_clock;

/// The pages of the database cost queries: they are read at most this often.
constexpr std::chrono::seconds kDatabaseEvery{4};
/// The ages of numbers are drawn at least this often.
constexpr auto kDrawEvery = 1s;
/// The bytes of a key follow each other within this time.
constexpr auto kWithinKey = 50ms;

/// Reads the pages, draws them, and follows the keys. The main thread.
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
      poller_.ask(Page::Metrics);
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
  // Before the threads of the poller start.
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
  /// Whether the screen shows `drawn_`.
  bool is_known_ = false;
  std::size_t page_ = 0;
  // Its callbacks use the others.
  skua::top::Poller poller_;
};

}  // namespace

int show_screen(const TopTarget& target) {
  // Lines of the log would stand between those of the screen.
  set_log_level("off");
  TopScreen(target).run();
  return kSuccess;
}

}  // namespace skua::cli
