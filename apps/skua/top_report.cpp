#include <algorithm>
#include <array>
#include <semaphore>
#include <span>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/time.hpp"
#include "commands.hpp"
#include "progress.hpp"
#include "terminal.hpp"
#include "top.hpp"
#include "top/frame.hpp"
#include "top/model.hpp"
#include "top/poller.hpp"

namespace skua::cli {
namespace {

using skua::top::Page;

/// The columns of a report that no terminal shows.
constexpr std::size_t kColumns = 120;

/// Reads pages and waits for their answers. One thread.
class Reader {
 public:
  explicit Reader(const TopTarget& target)
      : poller_({.origin = target.origin, .ca_file = target.ca_file, .on_answer = [this] {
                   answers_.release();
                 }}) {}

  void read(std::span<const Page> pages) {
    for (const Page page : pages) poller_.ask(page);
    for (std::size_t i = 0; i < pages.size(); ++i) answers_.acquire();
    for (const auto& answer : poller_.take()) model_.add(answer);
  }

  skua::top::Snapshot snapshot() const { return model_.snapshot(std::chrono::steady_clock::now()); }

 private:
  std::counting_semaphore<> answers_{0};
  skua::top::Model model_;
  skua::top::Poller poller_;
};

}  // namespace

int print_report(const TopTarget& target) {
  Reader reader(target);
  reader.read(skua::top::kPages);
  if (const auto contact = reader.snapshot().process; contact.failing_for) {
    print_error(fmt::format("{}: {} (--http names the pages of `skua run` or `skua serve`)",
                            target.origin, contact.failure));
    return kFailure;
  }
  // Rates need a second reading.
  std::this_thread::sleep_for(target.every);
  reader.read(std::array{Page::Health, Page::Metrics});
  const auto snapshot = reader.snapshot();
  const std::size_t columns = ::isatty(STDOUT_FILENO) == 1 ? Terminal::size().columns : kColumns;
  const skua::top::Origin origin{target.origin, system_clock().now()};
  for (const auto& line : skua::top::make_report(snapshot, origin, columns)) {
    fmt::print("{}\n", line.text());
  }
  return snapshot.is_ready() && !snapshot.process.failing_for ? kSuccess : kFailure;
}

}  // namespace skua::cli
