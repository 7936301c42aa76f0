#include <string_view>
#include <utility>

#include "top/json_fields.hpp"
#include "top/read_pages.hpp"

namespace skua::top {
namespace {

using nlohmann::json;

void add_problems(const json& page, const char* list, bool is_reason, Snapshot& snapshot) {
  for (const json& each : rows_field(page, list)) {
    snapshot.problems.push_back({text_field(each, "code"), text_field(each, "title"),
                                 text_field(each, "detail"), text_field(each, "cure"), is_reason});
  }
}

Snapshot::Backfill backfill_of(const json& page) {
  Snapshot::Backfill backfill;
  if (const json* const jobs = field(page, "jobs")) {
    backfill.queued = number_field(*jobs, "queued");
    backfill.running = number_field(*jobs, "running");
    backfill.done = number_field(*jobs, "done");
    backfill.failed = number_field(*jobs, "failed");
    backfill.unavailable = number_field(*jobs, "unavailable");
  }
  backfill.is_running = true_field(page, "is_running");
  const json* const metrics = field(page, "metrics");
  if (backfill.is_running && metrics != nullptr) {
    backfill.per_second = number_field(*metrics, "repositories_per_second");
    const double left = backfill.queued.value_or(0) + backfill.running.value_or(0);
    if (left > 0 && backfill.per_second.value_or(0) > 0) {
      backfill.seconds_left = left / *backfill.per_second;
    }
  }
  for (const json& host : rows_field(page, "hosts")) {
    backfill.hosts.push_back({text_field(host, "host"), number_field(host, "queued"),
                              number_field(host, "running"), number_field(host, "done"),
                              number_field(host, "ended_otherwise")});
  }
  return backfill;
}

Snapshot::Database database_of(const json& page, const std::optional<FirstSize>& first,
                               std::chrono::steady_clock::time_point at) {
  /// A shorter time says nothing about an hour.
  constexpr std::chrono::seconds kLeast{7};
  Snapshot::Database database;
  database.bytes = number_field(page, "database_bytes");
  if (first && database.bytes && at - first->at >= kLeast) {
    const std::chrono::duration<double, std::ratio<3600>> hours = at - first->at;
    database.growth_per_hour = (*database.bytes - first->bytes) / hours.count();
  }
  for (const json& row : rows_field(page, "tables")) {
    Snapshot::TableSize table{text_field(row, "table"), number_field(row, "rows_estimated"),
                              number_field(row, "bytes"), std::nullopt};
    if (first && table.bytes) {
      const auto found = first->tables.find(table.name);
      table.growth = found == first->tables.end() ? 0 : *table.bytes - found->second;
    }
    database.tables.push_back(std::move(table));
  }
  return database;
}

}  // namespace

void read_health(const json& page, Snapshot& snapshot) {
  snapshot.state = text_field(page, "status");
  add_problems(page, "reasons", true, snapshot);
  add_problems(page, "warnings", false, snapshot);
}

std::optional<FirstSize> first_size(const json& page, std::chrono::steady_clock::time_point at) {
  const auto bytes = number_field(page, "database_bytes");
  if (!bytes) return std::nullopt;
  FirstSize first{at, *bytes, {}};
  for (const json& row : rows_field(page, "tables")) {
    if (const auto size = number_field(row, "bytes"))
      first.tables[text_field(row, "table")] = *size;
  }
  return first;
}

void read_status(const json& page, const std::optional<FirstSize>& first,
                 std::chrono::steady_clock::time_point at, Snapshot& snapshot) {
  for (const json& each : rows_field(page, "consumers")) {
    snapshot.consumers.push_back({text_field(each, "name"), text_field(each, "kind"),
                                  text_field(each, "state"), number_field(each, "lag_seconds"),
                                  number_field(each, "changes_behind"),
                                  text_field(each, "reason")});
  }
  for (const json& each : rows_field(page, "dead_letters")) {
    snapshot.letter_reasons.push_back({number_field(each, "count"), text_field(each, "error")});
  }
  if (const json* const backfill = field(page, "backfill"); backfill && backfill->is_object()) {
    snapshot.backfill = backfill_of(*backfill);
  }
  snapshot.database = database_of(page, first, at);
}

void read_latest(const json& page, Snapshot& snapshot) {
  for (const json& post : rows_field(page, "posts")) {
    snapshot.posts.push_back(
        {text_field(post, "at"), text_field(post, "name"), text_field(post, "text")});
  }
  for (const json& letter : rows_field(page, "dead_letters")) {
    snapshot.letters.push_back({number_field(letter, "id"), text_field(letter, "at"),
                                text_field(letter, "origin"), text_field(letter, "did"),
                                text_field(letter, "status"), text_field(letter, "error")});
  }
}

}  // namespace skua::top
