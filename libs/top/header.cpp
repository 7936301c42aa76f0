#include "top/header.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "top/number_text.hpp"

namespace skua::top {
namespace {

/// A page that takes longer has not answered.
constexpr double kPatience = 5;

bool is_late(const Snapshot::Contact& contact, const View& view) {
  return contact.age && *contact.age > kPatience + static_cast<double>(view.every.count());
}

std::pair<std::string, Style> state_of(const Snapshot& snapshot, const View& view) {
  if (snapshot.process.failing_for || is_late(snapshot.process, view)) {
    return {"no answer", Style::Bad};
  }
  if (snapshot.state.empty()) return {"connecting", Style::Warn};
  if (!snapshot.is_ready()) return {snapshot.state, Style::Bad};
  return {snapshot.state, snapshot.problems.empty() ? Style::Good : Style::Warn};
}

std::string clock_text(Timestamp at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch());
  return fmt::format("{:%H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

}  // namespace

Line title_line(const Snapshot& snapshot, const View& view, const Origin& origin, const Line& end,
                std::size_t columns) {
  const auto [state, style] = state_of(snapshot, view);
  Line line("skua top", Style::Title);
  line.add("  ").add(state, style).add("  ").add(origin.address, Style::Quiet).add("  ");
  Line right(clock_text(origin.at), Style::Quiet);
  right.add(end);
  if (line.width() + right.width() <= columns) line.pad(columns - right.width());
  return line.add(right).cut(columns);
}

Line view_text(const View& view) {
  Line line("  ");
  line.add(fmt::format("every {} s", view.every.count()), Style::Quiet);
  if (view.is_paused) line.add("  ").add("paused", Style::Warn);
  return line;
}

Line numbers_line(const Snapshot& snapshot, std::size_t columns) {
  const std::vector<std::pair<const char*, std::string>> numbers = {
      {"events/s", number_text(snapshot.events_per_second, 1)},
      {"rows/s", number_text(snapshot.rows_per_second, 1)},
      {"lag", seconds_text(snapshot.lag)},
      {"p50", seconds_text(snapshot.commit_p50)},
      {"p99", seconds_text(snapshot.commit_p99)},
      {"in flight", number_text(snapshot.in_flight)},
      {"dead letters", number_text(snapshot.dead_letters)}};
  Line line;
  for (const auto& [name, value] : numbers) {
    Line part(name, Style::Quiet);
    part.add(" ").add(value, Style::Strong);
    const std::size_t gap = line.width() == 0 ? 0 : 3;
    if (line.width() + gap + part.width() > columns) break;
    line.pad(line.width() + gap).add(part);
  }
  return line;
}

std::optional<Line> notice_line(const Snapshot& snapshot, const View& view, std::size_t columns) {
  const Snapshot::Contact& process = snapshot.process;
  const Snapshot::Contact& database = snapshot.database_pages;
  std::string text;
  Style style = Style::Bad;
  if (process.failing_for) {
    text = fmt::format("No answer for {}", seconds_text(process.failing_for));
    if (process.age) text += fmt::format(", the numbers are {} old", seconds_text(process.age));
    text += ": " + process.failure;
  } else if (is_late(process, view)) {
    text = fmt::format("The numbers are {} old", seconds_text(process.age));
  } else if (database.failing_for && database.age) {
    text = fmt::format("The numbers of the database are {} old: {}", seconds_text(database.age),
                       database.failure);
    style = Style::Warn;
  } else if (database.failing_for) {
    text = "There are no numbers of the database: " + database.failure;
    style = Style::Warn;
  }
  if (text.empty()) return std::nullopt;
  return Line(text, style).cut(columns);
}

}  // namespace skua::top
