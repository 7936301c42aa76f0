#include "change_feed/leased/leased_batch.hpp"

#include <algorithm>

#include "change_feed/change_json.hpp"
#include "change_feed/log_pages.hpp"

namespace skua::change_feed {
namespace {

/// Changes that one page looks at, and pages that one call looks at: other consumers wait
/// meanwhile.
constexpr std::size_t kChangesOfPage = 1'000;
constexpr int kPages = 10;

PageAccounts accounts_of(const feed::Lease& lease) {
  return {.lane = lease.name.lane,
          .lanes = lease.lanes,
          .only = lease.key,
          .without = lease.waiting_keys};
}

/// What a lease has for the consumer.
struct Found {
  std::vector<std::shared_ptr<const ChangeEvent>> events;
  /// The position after the last change that was looked at.
  std::int64_t end = 0;
  /// The log does not have the first change any more.
  bool is_lost = false;
};

Found read_changes(store::Session& session, const feed::Lease& lease, const ChangeFilter& filter,
                   std::size_t max_bytes) {
  const std::int32_t timeline = read_log_state(session).timeline;
  const auto accounts = accounts_of(lease);
  const auto most = static_cast<std::size_t>(std::max(lease.batch, 1));
  Found found{.events = {}, .end = lease.pos};
  std::size_t bytes = 0;
  for (int page_number = 0; page_number < kPages; ++page_number) {
    const auto rest = static_cast<std::size_t>(lease.end - found.end);
    if (rest == 0 || found.events.size() >= most || bytes >= max_bytes) break;
    const PageLimits limits{.changes = std::min(rest, kChangesOfPage),
                            .events = most - found.events.size(),
                            .bytes = max_bytes - bytes};
    const auto page = read_page(session, timeline, found.end, 0, filter, limits, accounts);
    if (!page) {
      found.is_lost = found.events.empty();
      break;
    }
    if (page->next == found.end) break;
    for (const auto& event : page->events) {
      bytes += event->record.size();
      found.events.push_back(event);
    }
    found.end = page->next;
  }
  return found;
}

}  // namespace

LeasedChanges lease_changes(store::Session& session, const feed::LaneRequest& request,
                            const ChangeFilter& filter, std::size_t max_bytes) {
  const auto lease = feed::take_lease(session, request);
  if (!lease) return {};
  auto found = read_changes(session, *lease, filter, max_bytes);
  if (found.is_lost) {
    feed::report_loss(session, lease->name, read_log_state(session).oldest);
    return {.batch = std::nullopt, .has_more = true};
  }
  const auto count = static_cast<std::int32_t>(found.events.size());
  const std::int64_t first = count > 0 ? found.events.front()->pos : found.end;
  if (!feed::note_batch(session, lease->name, first, found.end, count)) return {};
  if (count > 0) return {.batch = LeasedBatch{lease->name, std::move(found.events)}};
  feed::acknowledge(session, lease->name, {.through = std::nullopt, .ends = true});
  return {.batch = std::nullopt, .has_more = true};
}

void count_batch(FeedMetrics& metrics, const LeasedBatch& batch) {
  metrics.batches += 1;
  metrics.batch_changes += batch.events.size();
}

void count_end(FeedMetrics& metrics, BatchEnd end, feed::LeaseResult result) {
  if (result == feed::LeaseResult::NotOfLease) return;
  if (result == feed::LeaseResult::Lost) end = BatchEnd::LeaseLost;
  metrics.batch_ends.at(static_cast<std::size_t>(end)) += 1;
}

std::string changes_json(const LeasedBatch& batch) {
  std::string json = "[";
  for (const auto& event : batch.events) {
    if (json.size() > 1) json += ",";
    json += change_json(*event);
  }
  return json + "]";
}

}  // namespace skua::change_feed
