#include "status/backfill_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "command_line/display_text.hpp"
#include "status/line_layout.hpp"
#include "status/metrics_text.hpp"

namespace skua::status {
namespace {

using backfill::JobState;
using nlohmann::json;

constexpr std::size_t kHostLines = 5;
constexpr std::size_t kErrorLines = 3;

std::int64_t count_of(const BackfillQueue& queue, JobState state) {
  const auto found = queue.jobs.by_state.find(state);
  return found == queue.jobs.by_state.end() ? 0 : found->second;
}

std::string megabytes(double bytes) {
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

/// Returns `123 queued`, or `about 123 queued` if the table is too large to be counted.
std::string queued_text(const BackfillQueue& queue) {
  return fmt::format("{}{} queued", queue.jobs.exact ? "" : "about ",
                     with_commas(count_of(queue, JobState::Queued)));
}

/// Returns how long the known jobs will take; empty if this cannot be computed.
std::string left_text(const BackfillSnapshot& moment) {
  if (!moment.queue || moment.rates.repositories <= 0) return {};
  const auto left =
      count_of(*moment.queue, JobState::Queued) + count_of(*moment.queue, JobState::Running);
  if (left == 0) return {};
  const double seconds = static_cast<double>(left) / moment.rates.repositories;
  constexpr double kLongest = 1e9;
  return duration_text(std::chrono::seconds(std::llround(std::min(seconds, kLongest)))) + " left";
}

/// Returns the failures of this process so far; empty if there are none.
std::string trouble_text(const backfill::BackfillMetrics& metrics) {
  std::string text;
  const auto add = [&](std::uint64_t count, const std::string& what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        with_commas(static_cast<std::int64_t>(count)), what);
  };
  add(metrics.unavailable, "unavailable");
  add(metrics.failed, noun_for(static_cast<std::int64_t>(metrics.failed), "failed attempt"));
  add(metrics.abandoned, "abandoned");
  add(metrics.dead_letters,
      noun_for(static_cast<std::int64_t>(metrics.dead_letters), "dead letter"));
  return text;
}

/// Returns the numbers of lists; empty if there are none.
std::string list_text(const BackfillSnapshot& moment) {
  if (!moment.queue || moment.queue->lists.empty()) return {};
  std::int64_t all = 0;
  std::int64_t read = 0;
  std::int64_t failed = 0;
  std::int64_t entries = 0;
  for (const auto& [kind, counts] : moment.queue->lists) {
    for (const auto& [state, count] : counts.lists) {
      if (state != backfill::ListState::Cancelled) all += count;
      if (state == backfill::ListState::Listed) read += count;
      if (state == backfill::ListState::Failed) failed += count;
    }
    entries += counts.listed;
  }
  auto text = fmt::format("{} of {} read, {}", with_commas(read), counted_with_commas(all, "list"),
                          counted_with_commas(entries, "entry"));
  if (failed > 0) text += fmt::format(", {} abandoned", counted_with_commas(failed, "list"));
  return text;
}

std::string host_line(const backfill::HostMetrics& host, Timestamp now) {
  auto line = fmt::format("  {:<40} {:>3} of {:<3} {:>6.1f}/s", host.host, host.under_way,
                          host.at_once, host.repositories_per_second);
  if (host.waits_until && *host.waits_until > now) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(*host.waits_until - now);
    line += "  waits " + duration_text(wait);
  }
  if (!host.last_error.empty()) line += "  " + host.last_error;
  return line;
}

/// Returns the latest error of a waiting job; empty if no waiting job failed.
std::string reason_of_jobs(const BackfillQueue& queue) {
  for (const backfill::ErrorCount& error : queue.jobs.errors) {
    if (error.state == JobState::Queued) return error.reason;
  }
  return {};
}

/// Returns the error of the list whose next attempt comes first.
std::string reason_of_lists(const BackfillQueue& queue) {
  const backfill::ListError* first = nullptr;
  for (const backfill::ListError& error : queue.list_errors) {
    if (error.state == backfill::ListState::Failed) continue;
    if (first == nullptr || error.next_attempt < first->next_attempt) first = &error;
  }
  return first == nullptr ? "" : first->reason;
}

std::string number(const json& object, const char* name) {
  return with_commas(object.value(name, std::int64_t{0}));
}

}  // namespace

std::string counted_with_commas(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}", with_commas(number), noun_for(number, noun));
}

std::string waiting_text(const BackfillSnapshot& moment) {
  const backfill::BackfillMetrics& metrics = moment.metrics;
  if (metrics.in_hand > 0 || metrics.discovery.under_way > 0 || !moment.queue) return {};
  const BackfillQueue& queue = *moment.queue;
  if (count_of(queue, JobState::Running) > 0) return {};
  std::optional<Timestamp> due = queue.jobs.next_due;
  if (!due || (queue.next_page && *queue.next_page < *due)) due = queue.next_page;
  if (!due || *due <= moment.at) return {};
  auto text = fmt::format("all that is queued waits; the next attempt comes in {}",
                          duration_text(std::chrono::ceil<std::chrono::seconds>(*due - moment.at)));
  const std::string reason =
      due == queue.next_page ? reason_of_lists(queue) : reason_of_jobs(queue);
  return reason.empty() ? text : text + ": " + reason;
}

std::string backfill_line(const BackfillSnapshot& moment) {
  const backfill::BackfillMetrics& metrics = moment.metrics;
  auto first = fmt::format(
      "{} done, {} under way",
      counted_with_commas(static_cast<std::int64_t>(metrics.repositories), "repository"),
      metrics.in_hand.value());
  if (moment.queue) first += ", " + queued_text(*moment.queue);
  std::vector<std::string> parts{clock_time(moment.at)};
  if (moment.outage) parts.push_back(outage_text(*moment.outage, moment.at));
  parts.push_back(std::move(first));
  parts.push_back(fmt::format("{:.0f} records/s", moment.rates.records));
  parts.push_back(megabytes(moment.rates.bytes) + "/s");
  for (const std::string& text :
       {left_text(moment), list_text(moment), trouble_text(metrics), waiting_text(moment)}) {
    if (!text.empty()) parts.push_back(text);
  }
  return laid_out(parts);
}

std::string backfill_summary(const BackfillSnapshot& moment) {
  auto text = fmt::format("backfill: {} done, {} under way",
                          with_commas(static_cast<std::int64_t>(moment.metrics.repositories)),
                          moment.metrics.in_hand.value());
  if (moment.queue) text += ", " + queued_text(*moment.queue);
  return text;
}

std::vector<std::string> backfill_screen(const BackfillSnapshot& moment, std::size_t width) {
  const backfill::BackfillMetrics& metrics = moment.metrics;
  std::vector<std::string> lines;
  auto first = fmt::format(
      "{}  {} done, {} under way", clock_time(moment.at),
      counted_with_commas(static_cast<std::int64_t>(metrics.repositories), "repository"),
      metrics.in_hand.value());
  if (moment.queue) first += ", " + queued_text(*moment.queue);
  if (const auto left = left_text(moment); !left.empty()) first += "; " + left;
  lines.push_back(std::move(first));
  if (moment.outage) lines.push_back(outage_text(*moment.outage, moment.at));
  lines.push_back(
      fmt::format("{}, {:.0f}/s  {}, {}/s",
                  counted_with_commas(static_cast<std::int64_t>(metrics.records), "record"),
                  moment.rates.records, megabytes(static_cast<double>(metrics.bytes)),
                  megabytes(moment.rates.bytes)));
  for (const std::string& text : {list_text(moment), trouble_text(metrics), waiting_text(moment)}) {
    if (!text.empty()) lines.push_back(text);
  }
  const std::size_t hosts = std::min(kHostLines, metrics.hosts.size());
  for (std::size_t i = 0; i < hosts; ++i) {
    lines.push_back(host_line(metrics.hosts[i], moment.at));
  }
  if (moment.queue) {
    const auto& errors = moment.queue->jobs.errors;
    for (std::size_t i = 0; i < std::min(kErrorLines, errors.size()); ++i) {
      lines.push_back(fmt::format("  {} {}: {}", with_commas(errors[i].jobs),
                                  to_string(errors[i].state), errors[i].reason));
    }
  }
  for (std::string& line : lines) line = printable(line, width);
  return lines;
}

namespace {

/// Returns the progress of the last audit; empty if none has begun to compare accounts.
std::string audit_line(const json& audit) {
  const json hosts = audit.value(backfill::kAuditOfRepos, json::object());
  if (hosts.empty()) return {};
  const auto count = [&](const char* name) { return hosts.value(name, std::int64_t{0}); };
  return fmt::format("  audit: the lists of {} read, {} waiting, {} abandoned, {}\n",
                     counted_with_commas(count("listed"), "host"),
                     with_commas(count("listing") + count("waiting")), with_commas(count("failed")),
                     counted_with_commas(count("listed_entries"), "entry"));
}

/// Returns why lists wait or were abandoned.
std::string list_errors_text(const json& errors) {
  std::string text;
  for (const json& error : errors) {
    const json next = error.value("next_attempt", json());
    const std::string state =
        next.is_null() ? "abandoned" : "waits, next attempt " + next.get<std::string>();
    text += fmt::format("  list of {}: {}: {}\n", error.value("list", ""), state,
                        error.value("error", ""));
  }
  return text;
}

bool has_waiting_list(const json& lists) {
  return std::ranges::any_of(
      lists, [](const json& counts) { return counts.value("waiting", std::int64_t{0}) > 0; });
}

}  // namespace

std::string backfill_status_text(const json& backfill) {
  const json& jobs = backfill["jobs"];
  const json& lists = backfill["lists"];
  std::int64_t all = 0;
  for (const json& count : jobs) all += count.get<std::int64_t>();
  std::string audit = audit_line(backfill.value("audit", json::object()));
  if (all == 0 && lists.empty()) return audit;
  std::string text = fmt::format(
      "  {}{}: {} queued, {} under way, {} done, {} unavailable, {} failed, {} cancelled\n",
      backfill.value("exact", true) ? "" : "about ", counted_with_commas(all, "repository"),
      number(jobs, "queued"), number(jobs, "running"), number(jobs, "done"),
      number(jobs, "unavailable"), number(jobs, "failed"), number(jobs, "cancelled"));
  for (const auto& [kind, counts] : lists.items()) {
    text += fmt::format(
        "  lists of {}: {} read, {} under way, {} waiting, {} abandoned, {} cancelled, {}\n", kind,
        number(counts, "listed"), number(counts, "listing"), number(counts, "waiting"),
        number(counts, "failed"), number(counts, "cancelled"),
        counted_with_commas(counts.value("listed_entries", std::int64_t{0}), "entry"));
  }
  text += audit;
  if (backfill.value("bootstrap", false)) {
    text +=
        "  a bootstrap is open: indexes are missing until `skua backfill` has come to its end\n";
  }
  const json& metrics = backfill["metrics"];
  if (!metrics.is_null() && backfill.value("is_running", false)) {
    text += fmt::format(
        "  at work: {}, {} under way, {:.1f} repositories/s, {:.0f} records/s, "
        "{}/s\n",
        metrics.value("lease_owner", ""), number(metrics, "in_hand"),
        metrics.value("repositories_per_second", 0.0), metrics.value("records_per_second", 0.0),
        megabytes(metrics.value("bytes_per_second", 0.0)));
  } else if (jobs.value("queued", 0) > 0 || has_waiting_list(lists)) {
    text += "  nobody works on it: `skua backfill` or `skua run` does\n";
  }
  command_line::Table hosts(
      {{"host"}, {"queued", true}, {"under way", true}, {"done", true}, {"ended otherwise", true}});
  for (const json& host : backfill["hosts"]) {
    hosts.add({host.value("host", ""), number(host, "queued"), number(host, "running"),
               number(host, "done"), number(host, "ended_otherwise")});
  }
  if (!hosts.is_empty()) text += hosts.text(2);
  command_line::Table errors({{"repositories", true}, {"state"}, {"error"}});
  for (const json& error : backfill["errors"]) {
    errors.add({number(error, "jobs"), error.value("state", ""), error.value("error", "")});
  }
  if (!errors.is_empty()) text += errors.text(2);
  text += list_errors_text(backfill.value("list_errors", json::array()));
  return text + list_errors_text(backfill.value("audit_errors", json::array()));
}

}  // namespace skua::status
