#include "top/model.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skua::top {

namespace {

using nlohmann::json;

// The functions read fields of unverified JSON. A field of another type counts as missing.

/// Returns the member of an object; null if there is none.
const json* field(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// Returns a text; empty if there is none.
std::string text_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<double> number_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

bool true_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  return value != nullptr && *value == true;
}

/// Returns the elements of an array, at most Snapshot::kMostRows; empty if the field is no array.
/// The elements are not copied, because copying is recursive and the depth of hostile JSON is not
/// limited.
std::span<const json> rows_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  if (value == nullptr || !value->is_array()) return {};
  const auto& rows = value->get_ref<const json::array_t&>();
  return {rows.data(), std::min(rows.size(), Snapshot::kMostRows)};
}

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
  /// The growth over a shorter time does not indicate the growth of an hour.
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

/// Reads the state and the problems from `/health/ready`.
void read_health(const json& page, Snapshot& snapshot) {
  snapshot.state = text_field(page, "status");
  add_problems(page, "reasons", true, snapshot);
  add_problems(page, "warnings", false, snapshot);
}

Snapshot::Source source_of(const json& row) {
  Snapshot::Source source{.name = text_field(row, "source"),
                          .is_connected = true_field(row, "is_connected"),
                          .role = text_field(row, "role"),
                          .cursor = number_field(row, "cursor"),
                          .lag = number_field(row, "lag_seconds"),
                          .messages_per_second = number_field(row, "messages_per_second"),
                          .verified_per_second = number_field(row, "verified_per_second"),
                          .waiting_accounts = number_field(row, "waiting_accounts"),
                          .dropped = {}};
  const json* const dropped = field(row, "dropped");
  if (dropped == nullptr || !dropped->is_object()) return source;
  for (const auto& [reason, count] : dropped->items()) {
    if (count.is_number()) source.dropped.emplace_back(reason, count.get<double>());
    if (source.dropped.size() == Snapshot::kMostRows) break;
  }
  return source;
}

/// Reads rates, sources, workers and collections from `/status/process`.
void read_process(const json& page, Snapshot& snapshot) {
  snapshot.events_per_second = number_field(page, "events_per_second");
  snapshot.rows_per_second = number_field(page, "rows_per_second");
  snapshot.lag = number_field(page, "lag_seconds");
  if (const json* const latency = field(page, "commit_latency_seconds")) {
    snapshot.commit_p50 = number_field(*latency, "p50");
    snapshot.commit_p99 = number_field(*latency, "p99");
  }
  snapshot.in_flight = number_field(page, "in_flight_messages");
  snapshot.dead_letters = number_field(page, "dead_letters");
  for (const json& row : rows_field(page, "sources")) snapshot.sources.push_back(source_of(row));
  for (const json& row : rows_field(page, "workers")) {
    snapshot.workers.push_back({text_field(row, "worker"), number_field(row, "queued_events"),
                                number_field(row, "events_per_second")});
  }
  for (const json& row : rows_field(page, "collections")) {
    snapshot.collections.push_back({text_field(row, "collection"), number_field(row, "per_second"),
                                    number_field(row, "operations").value_or(0),
                                    true_field(row, "is_quiet")});
  }
}

/// Returns the sizes of the first answer, with which later sizes are compared; nothing if the page
/// has none.
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

Snapshot::Network network_of(const json& page) {
  Snapshot::Network network{.nodes = {},
                            .missing_groups = text_field(page, "missing_groups"),
                            .move = text_field(page, "move")};
  for (const json& row : rows_field(page, "nodes")) {
    network.nodes.push_back({text_field(row, "name"), text_field(row, "groups"),
                             text_field(row, "read_up_to"), number_field(row, "age_seconds"),
                             true_field(row, "references_wait"), text_field(row, "problem")});
  }
  return network;
}

/// Reads `/status`, which arrived at `at`.
void read_status(const json& page, const std::optional<FirstSize>& first,
                 std::chrono::steady_clock::time_point at, Snapshot& snapshot) {
  if (field(page, "nodes") != nullptr) {
    snapshot.network = network_of(page);
    return;
  }
  for (const json& each : rows_field(page, "consumers")) {
    snapshot.consumers.push_back({text_field(each, "name"), text_field(each, "kind"),
                                  text_field(each, "state"), number_field(each, "lag_seconds"),
                                  number_field(each, "changes_behind"),
                                  number_field(each, "retry_seconds"),
                                  number_field(each, "dead_letters"), text_field(each, "reason")});
  }
  for (const json& each : rows_field(page, "dead_letters")) {
    snapshot.letter_reasons.push_back({number_field(each, "count"), text_field(each, "error")});
  }
  if (const json* const backfill = field(page, "backfill"); backfill && backfill->is_object()) {
    snapshot.backfill = backfill_of(*backfill);
  }
  snapshot.database = database_of(page, first, at);
}

/// Reads posts and dead letters from `/latest`.
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

constexpr unsigned kOk = 200;
constexpr unsigned kNotFound = 404;
constexpr unsigned kUnavailable = 503;

double seconds_since(Model::TimePoint then, Model::TimePoint now) {
  return std::max(std::chrono::duration<double>(now - then).count(), 0.0);
}

/// Returns the text of an error answer, such as `database-down: ...`.
std::string refusal_text(const Answer& answer, const json& body) {
  const std::string code = text_field(body, "error");
  const std::string message = text_field(body, "message");
  if (code.empty()) return fmt::format("HTTP status {}", answer.status);
  return message.empty() ? code : code + ": " + message;
}

}  // namespace

void Model::add(const Answer& answer) {
  PageState& page = pages_[static_cast<std::size_t>(answer.page)];
  std::string failure = answer.failure;
  if (answer.status != 0) {
    failure = use(answer);
    if (!failure.empty()) failure = fmt::format("{}: {}", path_of(answer.page), failure);
  }
  if (failure.empty()) {
    page = {answer.at, std::nullopt, {}};
    return;
  }
  if (!page.failing_since) page.failing_since = answer.at;
  page.failure = std::move(failure);
}

std::string Model::use(const Answer& answer) {
  json body = json::parse(answer.body, nullptr, false);
  const bool is_health = answer.page == Page::Health;
  // An answer with status 503 is valid: it says that the process is not ready.
  const bool is_state = is_health && answer.status == kUnavailable;
  if (answer.page == Page::Process && answer.status == kNotFound) {
    return "the process is older than this program, and has no such page";
  }
  if (answer.status != kOk && !is_state) return refusal_text(answer, body);
  const bool is_other = (is_health && text_field(body, "status").empty()) ||
                        (answer.page == Page::Process && field(body, "sources") == nullptr);
  if (!body.is_object() || is_other) {
    return "the answer is not that of a Skua process";
  }
  if (answer.page == Page::Status && !first_size_) first_size_ = first_size(body, answer.at);
  bodies_[static_cast<std::size_t>(answer.page)] = std::move(body);
  return {};
}

Snapshot::Contact Model::contact(Page first, Page second, TimePoint now) const {
  Snapshot::Contact contact;
  for (const Page page : {first, second}) {
    const PageState& state = state_of(page);
    if (state.answered_at) {
      contact.age = std::max(contact.age.value_or(0), seconds_since(*state.answered_at, now));
    }
    if (!state.failing_since) continue;
    const double lasts = seconds_since(*state.failing_since, now);
    if (contact.failing_for.value_or(-1) >= lasts) continue;
    contact.failing_for = lasts;
    contact.failure = state.failure;
  }
  return contact;
}

Snapshot Model::snapshot(TimePoint now) const {
  Snapshot snapshot;
  snapshot.process = contact(Page::Health, Page::Process, now);
  snapshot.database_pages = contact(Page::Status, Page::Latest, now);
  const auto body = [&](Page page) -> const json& {
    return bodies_[static_cast<std::size_t>(page)];
  };
  read_health(body(Page::Health), snapshot);
  read_process(body(Page::Process), snapshot);
  if (const auto& answered_at = state_of(Page::Status).answered_at) {
    read_status(body(Page::Status), first_size_, *answered_at, snapshot);
  }
  read_latest(body(Page::Latest), snapshot);
  // A query database has no newest rows of its own, and no such page.
  if (snapshot.network) snapshot.database_pages = contact(Page::Status, Page::Status, now);
  return snapshot;
}

}  // namespace skua::top
