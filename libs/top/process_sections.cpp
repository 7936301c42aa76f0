#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "command_line/display_text.hpp"
#include "top/number_text.hpp"
#include "top/sections.hpp"
#include "top/table.hpp"

namespace skua::top {
namespace {

/// Queues of this length are unusual, and the workers do not keep up.
constexpr double kLongQueue = 500;
constexpr double kVeryLongQueue = 5'000;
constexpr std::string_view kIndent = "  ";

Line nothing(std::string_view text) {
  return Line(text, Style::Quiet);
}

void add_wrapped(std::vector<Line>& lines, std::string_view text, Style style, std::size_t width) {
  constexpr std::size_t kMostCharacters = 1'000;
  const std::size_t columns = width - std::min(width, kIndent.size());
  for (const std::string& each :
       command_line::wrapped_text(command_line::cell_text(text, kMostCharacters), columns)) {
    lines.push_back(Line(kIndent).add(each, style));
  }
}

std::string drops_text(const Snapshot::Source& source) {
  std::string text;
  for (const auto& [reason, count] : source.dropped) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, number_text(count));
  }
  return text.empty() ? "-" : text;
}

Style style_of_queue(std::optional<double> queued) {
  if (queued.value_or(0) > kVeryLongQueue) return Style::Bad;
  return queued.value_or(0) > kLongQueue ? Style::Warn : Style::Plain;
}

/// Workers of a kind and a record type, from names such as `live like 0`.
struct Group {
  std::string type;
  struct Side {
    std::vector<Line> queues;
    std::optional<double> events;
  };
  Side live;
  Side backfill;
};

void add_worker(std::vector<Group>& groups, const Snapshot::Worker& worker) {
  const std::string_view name = worker.name;
  const std::size_t first = name.find(' ');
  const std::size_t last = name.rfind(' ');
  const bool has_type = first != std::string_view::npos && last > first;
  const std::string type(has_type ? name.substr(first + 1, last - first - 1) : name);
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const Group& each) { return each.type == type; });
  if (group == groups.end()) group = groups.insert(group, {type, {}, {}});
  Group::Side& side = name.starts_with("backfill ") ? group->backfill : group->live;
  side.queues.emplace_back(number_text(worker.queued), style_of_queue(worker.queued));
  if (worker.events_per_second) {
    side.events = side.events.value_or(0) + *worker.events_per_second;
  }
}

constexpr std::size_t kSideGap = 2;

/// The columns of the table of workers.
struct GroupWidths {
  std::size_t name = 0;
  std::size_t queue = 0;
  /// Of one side.
  std::size_t queues = 0;
  /// Of the rate of a side; 0: there is no room for rates.
  std::size_t rate = 10;

  std::size_t all() const { return name + 2 * (queues + rate) + kSideGap; }
};

/// `gap`: between two queues.
GroupWidths group_widths(const std::vector<Group>& groups, std::size_t gap) {
  constexpr std::size_t kLongestName = 20;
  constexpr std::size_t kShortestQueue = 2;
  GroupWidths widths;
  widths.queue = kShortestQueue;
  std::size_t most = 0;
  for (const Group& group : groups) {
    widths.name = std::max(widths.name, Line(group.type).cut(kLongestName).width());
    for (const Group::Side* const side : {&group.live, &group.backfill}) {
      most = std::max(most, side->queues.size());
      for (const Line& queue : side->queues) widths.queue = std::max(widths.queue, queue.width());
    }
  }
  widths.queue += gap;
  // The heads need room too.
  widths.queues = std::max(most * widths.queue, gap + std::string_view("backfill").size());
  return widths;
}

GroupWidths widths_within(const std::vector<Group>& groups, std::size_t width) {
  GroupWidths widths = group_widths(groups, 2);
  if (widths.all() > width) widths = group_widths(groups, 1);
  if (widths.all() > width) widths.rate = 0;
  return widths;
}

void add_side(const Group::Side& side, const GroupWidths& widths, Line& line) {
  const std::size_t begin = line.width();
  for (const Line& queue : side.queues) {
    line.pad(line.width() + widths.queue - queue.width()).add(queue);
  }
  line.pad(begin + widths.queues);
  if (widths.rate > 0) line.add(fmt::format("{:>{}}", number_text(side.events, 1), widths.rate));
}

Line group_line(const Group& group, const GroupWidths& widths) {
  Line line(group.type);
  line.cut(widths.name).pad(widths.name);
  add_side(group.live, widths, line);
  line.pad(line.width() + kSideGap);
  add_side(group.backfill, widths, line);
  return line;
}

Line group_head(const GroupWidths& widths) {
  const char* const rate = widths.rate > 0 ? "events/s" : "";
  return Line()
      .pad(widths.name)
      .add(fmt::format("{:>{}}{:>{}}{:>{}}{:>{}}", "live", widths.queues, rate, widths.rate,
                       "backfill", widths.queues + kSideGap, rate, widths.rate),
           Style::Quiet);
}

}  // namespace

Section problems_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Problems", "", {}, 0};
  for (const auto& problem : snapshot.problems) {
    const Style style = problem.is_reason ? Style::Bad : Style::Warn;
    section.lines.push_back(Line(problem.code, style).add(": ").add(problem.title).cut(width));
    add_wrapped(section.lines, problem.detail, Style::Quiet, width);
    add_wrapped(section.lines, problem.cure, Style::Plain, width);
  }
  if (section.lines.empty()) section.lines.push_back(nothing("There are no problems."));
  return section;
}

Section sources_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Sources", "", {}, 1};
  Table table({{"source"},
               {"state"},
               {"cursor", true},
               {"lag", true},
               {"messages/s", true},
               {"verified/s", true, 90},
               {"waiting", true, 100},
               {"dropped since start"}});
  auto sources = snapshot.sources;
  std::stable_partition(sources.begin(), sources.end(),
                        [](const auto& source) { return !source.is_connected; });
  for (const auto& source : sources) {
    const std::string role = source.role.empty() ? "connected" : source.role;
    const std::string cursor = source.cursor ? fmt::format("{:.0f}", *source.cursor) : "-";
    table.add({{source.name},
               {source.is_connected ? role : "not connected",
                source.is_connected ? Style::Good : Style::Bad},
               {cursor},
               {seconds_text(source.lag)},
               {number_text(source.messages_per_second, 1)},
               {number_text(source.verified_per_second, 1)},
               {number_text(source.waiting_accounts)},
               {drops_text(source), source.dropped.empty() ? Style::Plain : Style::Warn}});
  }
  section.lines = table.lines(width);
  if (section.lines.empty()) return {section.title, "", {nothing("This process reads no source.")}};
  return section;
}

Section workers_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Workers", "events in the queues of each worker", {}, 1};
  std::vector<Group> groups;
  for (const auto& worker : snapshot.workers) add_worker(groups, worker);
  if (groups.empty()) return {section.title, "", {nothing("This process has no workers.")}};
  const GroupWidths widths = widths_within(groups, width);
  section.lines.push_back(group_head(widths));
  for (const Group& group : groups) section.lines.push_back(group_line(group, widths));
  return section;
}

Section collections_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Collections", "operations", {}, 1};
  Table table({{"collection"}, {"per second", true}, {"since start", true}});
  auto collections = snapshot.collections;
  std::stable_partition(collections.begin(), collections.end(),
                        [](const auto& collection) { return collection.is_quiet; });
  for (const auto& collection : collections) {
    const Style style = collection.is_quiet ? Style::Bad : Style::Plain;
    table.add({{collection.name + (collection.is_quiet ? " (quiet)" : ""), style},
               {number_text(collection.per_second, 2), style},
               {number_text(collection.total)}});
  }
  section.lines = table.lines(width);
  if (section.lines.empty()) return {section.title, "", {nothing("No operations yet.")}};
  return section;
}

}  // namespace skua::top
