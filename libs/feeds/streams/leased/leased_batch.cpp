#include "streams/leased/leased_batch.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "streams/change_event.hpp"
#include "streams/log_pages.hpp"
#include "streams/node_positions.hpp"

namespace skua::streams {

namespace {

constexpr std::size_t kMostPatterns = 1'000;
constexpr std::size_t kMostAccounts = 10'000;

/// These limits of the changes of a page and of the pages of a call keep a call short, because
/// other consumers wait meanwhile.
constexpr std::size_t kChangesOfPage = 1'000;
constexpr int kPages = 10;
/// The approximate size of the records and messages of a batch.
constexpr std::size_t kBatchBytes = std::size_t{1024} * 1024;

PageAccounts accounts_of(const consumers::Lease& lease) {
  return {.lane = lease.name.lane,
          .lanes = lease.lanes,
          .only = lease.key,
          .without = lease.waiting_keys};
}

std::string position_text(std::string_view node, const Position& position) {
  return with_node(node, position.text());
}

SentChange sent_change(const ChangeEvent& event, std::string_view node) {
  std::string position = position_text(node, {event.timeline, event.pos});
  std::string json = change_json(event, position);
  return {event.pos, std::move(position), std::move(json)};
}

/// The changes that a lease has for the consumer.
struct Found {
  std::vector<SentChange> changes;
  /// The position after the last change that was read.
  std::int64_t end = 0;
  /// True if the log no longer has the first change.
  bool is_lost = false;
};

Found read_changes(postgres::Session& session, const consumers::Lease& lease,
                   const ChangeFilter& filter, std::string_view node) {
  if (lease.letter) {
    std::string position = position_text(node, {lease.letter->timeline, lease.pos});
    std::string json = with_position(lease.letter->event, position);
    return {.changes = {{lease.pos, std::move(position), std::move(json)}}, .end = lease.end};
  }
  const std::int32_t timeline = read_log_state(session).timeline;
  const auto accounts = accounts_of(lease);
  const auto most = static_cast<std::size_t>(std::max(lease.batch, 1));
  Found found{.changes = {}, .end = lease.pos};
  std::size_t bytes = 0;
  for (int page_number = 0; page_number < kPages; ++page_number) {
    const auto rest = static_cast<std::size_t>(lease.end - found.end);
    if (rest == 0 || found.changes.size() >= most || bytes >= kBatchBytes) break;
    const PageLimits limits{.changes = std::min(rest, kChangesOfPage),
                            .events = most - found.changes.size(),
                            .bytes = kBatchBytes - bytes};
    const auto page = read_page(session, timeline, found.end, 0, filter, limits, accounts);
    if (!page) {
      found.is_lost = found.changes.empty();
      break;
    }
    if (page->next == found.end) break;
    for (const auto& event : page->events) {
      bytes += event->content_bytes();
      found.changes.push_back(sent_change(*event, node));
    }
    found.end = page->next;
  }
  return found;
}

}  // namespace

Checked<ChangeFilter> parse_leased_filter(const std::string& json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return std::string("the filter is not a JSON object");
  FilterTexts texts;
  const std::pair<const char*, std::vector<std::string>*> members[] = {
      {"collections", &texts.collections},
      {"dids", &texts.dids},
      {"ops", &texts.ops},
      {"kinds", &texts.kinds},
      {"topics", &texts.topics}};
  for (const auto& [name, values] : members) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!found->is_array()) return fmt::format("{} is not a list", name);
    for (const auto& value : *found) {
      if (!value.is_string()) return fmt::format("{} is not a list of texts", name);
      values->push_back(value.get<std::string>());
    }
  }
  return parse_change_filter(texts, {.patterns = kMostPatterns, .accounts = kMostAccounts});
}

Checked<ChangeFilter> read_filter(postgres::Session& session,
                                  const consumers::LeasedConsumer& consumer) {
  auto filter = parse_leased_filter(consumer.filter);
  if (!filter && !consumer.has_filter_failure) {
    const std::string error = "its filter is malformed: " + filter.error();
    consumers::note_unreadable(session, consumer.id, consumers::FailureCause::Filter, error, {});
    logger("feed")->error("{}: {}", consumer.name, with_code(error, problem("consumer-stuck")));
  }
  if (filter && consumer.has_filter_failure) consumers::note_filter_works(session, consumer.id);
  return filter;
}

LeasedChanges lease_changes(postgres::Session& session, const consumers::LaneRequest& request,
                            const ChangeFilter& filter, std::string_view node) {
  const auto lease = consumers::take_lease(session, request);
  if (!lease) return {};
  auto found = read_changes(session, *lease, filter, node);
  if (found.is_lost) {
    consumers::report_loss(session, lease->name, read_log_state(session).oldest);
    return {.batch = std::nullopt, .has_more = true};
  }
  const auto count = static_cast<std::int32_t>(found.changes.size());
  const std::int64_t first = count > 0 ? found.changes.front().pos : found.end;
  const auto attempt = consumers::note_batch(session, lease->name, first, found.end, count);
  if (!attempt) return {};
  if (count > 0) return {.batch = LeasedBatch{lease->name, *attempt, std::move(found.changes)}};
  consumers::acknowledge(session, lease->name, {.through = std::nullopt, .ends = true});
  const bool is_at_end = !lease->key && found.end >= lease->end;
  return {.batch = std::nullopt, .has_more = true, .is_at_end = is_at_end};
}

void count_batch(FeedMetrics& metrics, const LeasedBatch& batch) {
  metrics.batches += 1;
  metrics.batch_changes += batch.changes.size();
}

void count_end(FeedMetrics& metrics, BatchEnd end, consumers::LeaseResult result) {
  if (result == consumers::LeaseResult::NotOfLease) return;
  if (result == consumers::LeaseResult::Lost) end = BatchEnd::LeaseLost;
  metrics.batch_ends.at(static_cast<std::size_t>(end)) += 1;
}

std::optional<std::chrono::milliseconds> LostConnections::since_last() const {
  if (!last_) return std::nullopt;
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - *last_);
}

std::string changes_json(const LeasedBatch& batch) {
  std::string json = "[";
  for (const SentChange& change : batch.changes) {
    if (json.size() > 1) json += ",";
    json += change.json;
  }
  return json + "]";
}

}  // namespace skua::streams
