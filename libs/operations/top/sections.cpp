#include "top/sections.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "command_line/display_text.hpp"

namespace skua::top {
namespace {

/// Queues of this length are unusual: the workers process events more slowly than these arrive.
constexpr double kLongQueue = 500;
constexpr double kVeryLongQueue = 5'000;
constexpr std::string_view kIndent = "  ";

/// Makes a section of a table, or of one line if the table has no rows.
Section section_of(std::string title, std::string note, const Table& table, std::size_t width,
                   std::string_view nothing) {
  Section section{std::move(title), std::move(note), table.lines(width), 1};
  if (!section.lines.empty()) return section;
  section.lines.emplace_back(nothing, Style::Quiet);
  section.heads = 0;
  return section;
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

/// The workers of a kind and a record type, from names such as `live like 0`.
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

/// The widths of the columns of the table of workers.
struct GroupWidths {
  std::size_t name = 0;
  std::size_t queue = 0;
  /// The width of the queues of one side.
  std::size_t queues = 0;
  /// The width of the rate of a side; 0 if there is no room for rates.
  std::size_t rate = 10;

  std::size_t all() const { return name + 2 * (queues + rate) + kSideGap; }
};

/// `gap` is the width between two queues.
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
  // The heads of the columns need room too.
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

constexpr std::string_view kRunning = "running";

/// Returns a time such as `2026-07-04T14:38:08.085434Z` without the fraction.
std::string short_time(std::string_view datetime) {
  constexpr std::size_t kSeconds = 19;
  std::string text(datetime.substr(0, kSeconds));
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  return text;
}

/// The estimate comes first, because the end of the text may be cut.
std::string backfill_text(const Snapshot::Backfill& backfill) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (backfill.seconds_left) add(fmt::format("about {} left", seconds_text(backfill.seconds_left)));
  const bool has_work = backfill.queued.value_or(0) + backfill.running.value_or(0) > 0;
  if (has_work && !backfill.is_running) add("no process works on it");
  if (has_work && backfill.per_second) {
    add(fmt::format("{} repositories/s", number_text(backfill.per_second, 1)));
  }
  add(number_text(backfill.queued) + " queued");
  add(number_text(backfill.running) + " under way");
  add(number_text(backfill.done) + " done");
  if (backfill.failed.value_or(0) > 0) add(number_text(backfill.failed) + " failed");
  if (backfill.unavailable.value_or(0) > 0) add(number_text(backfill.unavailable) + " unavailable");
  return text;
}

Section problems_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Problems", "", {}, 0};
  for (const auto& problem : snapshot.problems) {
    const Style style = problem.is_reason ? Style::Bad : Style::Warn;
    section.lines.push_back(Line(problem.code, style).add(": ").add(problem.title).cut(width));
    add_wrapped(section.lines, problem.detail, Style::Quiet, width);
    add_wrapped(section.lines, problem.cure, Style::Plain, width);
  }
  if (section.lines.empty()) section.lines.emplace_back("There are no problems.", Style::Quiet);
  return section;
}

Section sources_section(const Snapshot& snapshot, std::size_t width) {
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
  return section_of("Sources", "", table, width, "This process reads no source.");
}

Section nodes_section(const Snapshot::Network& network, std::size_t width) {
  Table table({{"node"}, {"groups"}, {"read up to (UTC)", false, 70}, {"age", true}, {"state"}});
  auto nodes = network.nodes;
  std::stable_partition(nodes.begin(), nodes.end(),
                        [](const auto& node) { return !node.problem.empty(); });
  for (const auto& node : nodes) {
    const bool is_read = node.problem.empty();
    const std::string state = node.references_wait ? "references wait" : "read";
    table.add({{node.name},
               {node.groups},
               {node.read_up_to.empty() ? "-" : node.read_up_to},
               {seconds_text(node.age)},
               {is_read ? state : "cannot be read: " + node.problem,
                is_read ? Style::Good : Style::Bad}});
  }
  std::string note;
  if (!network.missing_groups.empty()) {
    note = fmt::format("no node owns the groups {}", network.missing_groups);
  }
  if (!network.move.empty()) note += (note.empty() ? "" : "; ") + network.move;
  return section_of("Nodes", note, table, width, "There are no nodes.");
}

Section workers_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Workers", "events in the queues of each worker", {}, 1};
  std::vector<Group> groups;
  for (const auto& worker : snapshot.workers) add_worker(groups, worker);
  if (groups.empty()) {
    return {section.title, "", {Line("This process has no workers.", Style::Quiet)}};
  }
  const GroupWidths widths = widths_within(groups, width);
  section.lines.push_back(group_head(widths));
  for (const Group& group : groups) section.lines.push_back(group_line(group, widths));
  return section;
}

Section collections_section(const Snapshot& snapshot, std::size_t width) {
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
  return section_of("Collections", collections.empty() ? "" : "operations", table, width,
                    "No operations yet.");
}

Section consumers_section(const Snapshot& snapshot, std::size_t width) {
  Table table({{"consumer"},
               {"kind", false, 80},
               {"state"},
               {"lag", true},
               {"changes behind", true},
               {"next try", true, 100},
               {"letters", true, 100},
               {"reason"}});
  auto consumers = snapshot.consumers;
  std::stable_partition(consumers.begin(), consumers.end(),
                        [](const auto& consumer) { return consumer.state != kRunning; });
  for (const auto& consumer : consumers) {
    table.add({{consumer.name},
               {consumer.kind},
               {consumer.state, consumer.state == kRunning ? Style::Good : Style::Bad},
               {seconds_text(consumer.lag)},
               {number_text(consumer.changes_behind)},
               {seconds_text(consumer.retry)},
               {number_text(consumer.dead_letters)},
               {consumer.reason, consumer.state == kRunning ? Style::Warn : Style::Bad}});
  }
  return section_of("Consumers", "", table, width, "There are no consumers.");
}

Section dead_letters_section(const Snapshot& snapshot, std::size_t width) {
  Table reasons({{"count", true}, {"reason"}});
  for (const auto& reason : snapshot.letter_reasons) {
    reasons.add({{number_text(reason.count), Style::Warn}, {reason.error}});
  }
  Section section = section_of("Dead letters", "", reasons, width, "There are no dead letters.");
  if (snapshot.letters.empty()) return section;
  Table letters({{"number", true},
                 {"last", false, 60},
                 {"status", false, 80},
                 {"origin", false, 80},
                 {"account", false, 110},
                 {"reason"}});
  for (const auto& letter : snapshot.letters) {
    letters.add({{letter.id ? fmt::format("{:.0f}", *letter.id) : "-"},
                 {short_time(letter.at)},
                 {letter.status},
                 {letter.origin},
                 {letter.did},
                 {letter.error}});
  }
  for (Line& line : letters.lines(width)) section.lines.push_back(std::move(line));
  return section;
}

Section backfill_section(const Snapshot& snapshot, std::size_t width) {
  Table hosts({{"host"},
               {"queued", true},
               {"under way", true},
               {"done", true},
               {"ended otherwise", true, 60}});
  if (!snapshot.backfill) {
    return section_of("Backfill", "", hosts, width, "It is not known yet.");
  }
  const auto& backfill = *snapshot.backfill;
  for (const auto& host : backfill.hosts) {
    hosts.add({{host.name},
               {number_text(host.queued)},
               {number_text(host.running)},
               {number_text(host.done)},
               {number_text(host.ended_otherwise)}});
  }
  return section_of("Backfill", backfill_text(backfill), hosts, width, "There are no jobs.");
}

Section database_section(const Snapshot& snapshot, std::size_t width) {
  Table tables({{"table"}, {"rows (estimated)", true}, {"size", true}, {"growth", true}});
  if (!snapshot.database) return section_of("Database", "", tables, width, "It is not known yet.");
  const auto& database = *snapshot.database;
  for (const auto& table : database.tables) {
    tables.add({{table.name},
                {number_text(table.rows)},
                {bytes_text(table.bytes)},
                {table.growth == 0.0 ? "-" : bytes_text(table.growth)}});
  }
  std::string note = bytes_text(database.bytes);
  if (database.growth_per_hour) {
    note += fmt::format(", growth {} per hour", bytes_text(database.growth_per_hour));
  }
  return section_of("Database", note, tables, width, "There are no tables.");
}

Section posts_section(const Snapshot& snapshot, std::size_t width) {
  Section section{"Newest posts", "", {}, 0};
  for (const auto& post : snapshot.posts) {
    section.lines.push_back(Line(post.name, Style::Strong).add("  ").add(post.text).cut(width));
  }
  if (section.lines.empty()) section.lines.emplace_back("There are no posts.", Style::Quiet);
  return section;
}

}  // namespace

Section make_section(std::size_t number, const Snapshot& snapshot, std::size_t width) {
  constexpr std::array kMakers = {problems_section,    sources_section,   workers_section,
                                  collections_section, consumers_section, dead_letters_section,
                                  backfill_section,    database_section,  posts_section};
  static_assert(kMakers.size() == kSections);
  Section section = kMakers.at(number - 1)(snapshot, width);
  if (snapshot.network && number == section::kSources) {
    section = nodes_section(*snapshot.network, width);
  } else if (snapshot.network && number > section::kSources) {
    section = {section.title, "", {Line("Each node has its own: see its pages.", Style::Quiet)}};
  }
  for (Line& line : section.lines) line.cut(width);
  return section;
}

}  // namespace skua::top
