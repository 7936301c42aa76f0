#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "top/number_text.hpp"
#include "top/sections.hpp"
#include "top/table.hpp"

namespace skua::top {
namespace {

constexpr std::string_view kRunning = "running";

/// `2026-07-04T14:38:08.085434Z` without the fraction.
std::string short_time(std::string_view datetime) {
  constexpr std::size_t kSeconds = 19;
  std::string text(datetime.substr(0, kSeconds));
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  return text;
}

/// A section of a table, or of one line if the table has no rows.
Section section_of(std::string title, std::string note, const Table& table, std::size_t width,
                   std::string_view nothing) {
  Section section{std::move(title), std::move(note), table.lines(width), 1};
  if (!section.lines.empty()) return section;
  section.lines.emplace_back(nothing, Style::Quiet);
  section.heads = 0;
  return section;
}

/// The estimate first: the rest may be cut.
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

}  // namespace

Section consumers_section(const Snapshot& snapshot, std::size_t width) {
  Table table({{"consumer"},
               {"kind", false, 80},
               {"state"},
               {"lag", true},
               {"changes behind", true},
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

}  // namespace skua::top
