#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "top/read_pages.hpp"

namespace skua::top {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTenSeconds{10'500};
constexpr milliseconds kMinute{60'500};

bool is_part_of_name(char c) {
  return c == '.' || c == '-' || (c >= '0' && c <= '9') ||
         (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}

/// Whether a text names a collection: not as a part of the name of another one.
bool names(std::string_view text, std::string_view collection) {
  for (std::size_t at = text.find(collection); at != std::string_view::npos;
       at = text.find(collection, at + 1)) {
    const std::size_t end = at + collection.size();
    if ((at == 0 || !is_part_of_name(text[at - 1])) &&
        (end == text.size() || !is_part_of_name(text[end]))) {
      return true;
    }
  }
  return false;
}

bool is_quiet(const Snapshot& snapshot, std::string_view collection) {
  return std::any_of(snapshot.problems.begin(), snapshot.problems.end(), [&](const auto& problem) {
    return problem.code == "collection-quiet" && names(problem.detail, collection);
  });
}

/// Values of a label, and no more than a list shows.
std::vector<std::string> shown_values(const Samples& samples, const char* name, const char* label) {
  auto all = samples.values(name, label);
  if (all.size() > Snapshot::kMostRows) all.resize(Snapshot::kMostRows);
  return all;
}

std::vector<std::pair<std::string, double>> drops_of(const Samples& samples,
                                                     const std::string& source) {
  std::vector<std::pair<std::string, double>> dropped;
  for (const auto& sample : samples.of("skua_dropped_total")) {
    if (sample.label("source") != source || sample.value <= 0) continue;
    dropped.emplace_back(sample.label("reason"), sample.value);
    if (dropped.size() == Snapshot::kMostRows) break;
  }
  return dropped;
}

bool is_connected(const Samples& samples, std::string_view source) {
  const double* const connected = samples.find("skua_connected", {{"source", std::string(source)}});
  return connected != nullptr && *connected == 1;
}

/// Of the connected sources: without a connection no event waits, because none comes.
Snapshot::Number largest_lag(const Samples& samples) {
  Snapshot::Number largest;
  for (const auto& sample : samples.of("skua_lag_seconds")) {
    if (!is_connected(samples, sample.label("source"))) continue;
    largest = std::max(largest.value_or(sample.value), sample.value);
  }
  return largest;
}

std::vector<Snapshot::Source> sources_of(const Reading* before, const Reading& now) {
  std::vector<Snapshot::Source> sources;
  for (const std::string& name : shown_values(now.samples, "skua_connected", "source")) {
    const Labels wanted = {{"source", name}};
    Snapshot::Source source;
    source.name = name;
    source.is_connected = is_connected(now.samples, name);
    for (const auto& sample : now.samples.of("skua_role")) {
      if (sample.has(wanted)) source.role = sample.label("role");
    }
    source.cursor = now.samples.total("skua_cursor", wanted);
    if (source.is_connected) source.lag = now.samples.total("skua_lag_seconds", wanted);
    source.messages_per_second = rate(before, now, "skua_messages_total", wanted);
    source.verified_per_second = rate(before, now, "skua_verified_total", wanted);
    source.waiting_accounts = now.samples.total("skua_waiting_accounts", wanted);
    source.dropped = drops_of(now.samples, name);
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<Snapshot::Worker> workers_of(const Reading* before, const Reading& now) {
  std::vector<Snapshot::Worker> workers;
  for (const std::string& name : shown_values(now.samples, "skua_worker_queued_events", "worker")) {
    const Labels wanted = {{"worker", name}};
    workers.push_back({name, now.samples.total("skua_worker_queued_events", wanted),
                       rate(before, now, "skua_worker_events_total", wanted)});
  }
  return workers;
}

std::vector<Snapshot::Collection> collections_of(const Reading* before, const Reading& now,
                                                 const Snapshot& snapshot) {
  constexpr const char* kName = "skua_collection_operations_total";
  std::vector<Snapshot::Collection> collections;
  for (const std::string& name : shown_values(now.samples, kName, "collection")) {
    const Labels wanted = {{"collection", name}};
    const double total = now.samples.total(kName, wanted).value_or(0);
    if (total <= 0) continue;
    collections.push_back(
        {name, rate(before, now, kName, wanted), total, is_quiet(snapshot, name)});
  }
  std::stable_sort(collections.begin(), collections.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return collections;
}

}  // namespace

void read_metrics(const History& history, Snapshot& snapshot) {
  const Reading* const now = history.now();
  if (now == nullptr) return;
  const Reading* const before = history.before(kTenSeconds);
  snapshot.events_per_second = rate(before, *now, "skua_events_total");
  snapshot.rows_per_second = rate(before, *now, "skua_rows_total");
  snapshot.lag = largest_lag(now->samples);
  snapshot.commit_p50 = quantile(before, *now, "skua_commit_latency_seconds", 0.5);
  snapshot.commit_p99 = quantile(before, *now, "skua_commit_latency_seconds", 0.99);
  snapshot.in_flight = now->samples.total("skua_in_flight_messages");
  snapshot.dead_letters = now->samples.total("skua_dead_letters_total");
  snapshot.sources = sources_of(before, *now);
  snapshot.workers = workers_of(before, *now);
  snapshot.collections = collections_of(history.before(kMinute), *now, snapshot);
}

}  // namespace skua::top
