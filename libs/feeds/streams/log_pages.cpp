#include "streams/log_pages.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/account_number.hpp"
#include "streams/log_pages.sql.hpp"

namespace skua::streams {
namespace {

/// A row of change_feed_changes. A column is null if the account has no row, or the kind of change
/// does not have the column.
struct ChangeRow {
  std::int64_t pos;
  Timestamp at;
  std::optional<std::string> kind;
  std::optional<std::string> op;
  std::optional<std::string> did;
  std::optional<std::string> collection;
  std::optional<std::string> rkey_text;
  std::int64_t rev;
  std::optional<Bytes> cid;
  std::optional<std::string> val;
  std::optional<bool> active;
  std::optional<std::string> status;
  std::optional<std::string> handle;
  std::optional<bool> handle_valid;
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
};

/// A row of change_feed_records. `place` counts from 1. `text` is null if it exceeds the limit.
struct RecordRow {
  std::int32_t place;
  std::optional<Bytes> cid;
  std::optional<std::string> text;
};

/// A row of change_feed_references.
struct ReferenceRow {
  std::int64_t pos;
  std::string role;
  std::int32_t delta;
  std::optional<std::string> target;
};

/// A row of change_feed_labels.
struct LabelRow {
  std::int64_t pos;
  std::string json;
};

/// A row of change_feed_messages.
struct MessageRow {
  std::int64_t pos;
  std::int64_t id;
  std::string key;
  Timestamp enqueued_at;
  std::string payload;
  std::string headers;
  std::int32_t bytes;
};

/// A row of change_feed_state. An empty log has no oldest block.
struct LogBounds {
  std::int32_t timeline;
  std::optional<std::int64_t> oldest;
  std::optional<std::int64_t> end;
};

/// A row of change_feed_block_at.
struct BlockRow {
  std::int64_t first;
  std::int64_t end;
  Timestamp at;
};

/// The positions of a page.
struct PositionRange {
  std::int64_t first;
  std::int64_t end;
};

/// The first statement of a page reads kFirstRecords records; each further statement may read
/// kMoreRecords times as many as the one before.
constexpr std::size_t kFirstRecords = 8;
constexpr std::size_t kMoreRecords = 4;

/// A change whose page is not complete.
struct Draft {
  std::shared_ptr<ChangeEvent> event;
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
};

std::string tid_text(std::int64_t number) {
  return atproto::Tid{static_cast<std::uint64_t>(number)}.to_string();
}

/// Returns the CID of a record; an empty text if there is no digest.
std::string cid_text(const std::optional<Bytes>& digest) {
  atproto::Cid cid;
  if (!digest || digest->size() != cid.digest.size()) return {};
  std::ranges::copy(*digest, cid.digest.begin());
  return cid.to_string();
}

Draft draft_of(ChangeRow&& row) {
  auto event = std::make_shared<ChangeEvent>();
  const auto text = [](std::optional<std::string>& value) { return std::move(value).value_or(""); };
  event->pos = row.pos;
  event->at = row.at;
  event->kind = text(row.kind);
  event->op = text(row.op);
  event->did = text(row.did);
  event->collection = text(row.collection);
  if (event->kind == "record") {
    event->rkey = row.rkey < 0 ? text(row.rkey_text) : tid_text(row.rkey);
    event->rev = tid_text(row.rev);
    event->cid = cid_text(row.cid);
  }
  (event->kind == "message" ? event->topic : event->val) = text(row.val);
  event->active = row.active;
  event->status = text(row.status);
  event->handle = text(row.handle);
  event->handle_valid = row.handle_valid;
  return {std::move(event), row.actor_id, row.collection_id, row.rkey};
}

/// Returns the draft at a position; null if the change did not pass the filter.
ChangeEvent* find(const std::vector<Draft>& drafts, std::int64_t pos) {
  const auto found =
      std::lower_bound(drafts.begin(), drafts.end(), pos,
                       [](const Draft& draft, std::int64_t at) { return draft.event->pos < at; });
  return found != drafts.end() && found->event->pos == pos ? found->event.get() : nullptr;
}

void add_references(postgres::Session& session, const PositionRange& range,
                    const std::vector<Draft>& drafts) {
  for (ReferenceRow& row :
       session.query<ReferenceRow>(sql::change_feed_references, range.first, range.end)) {
    if (auto* event = find(drafts, row.pos)) {
      event->references.push_back(
          {std::move(row.role), row.delta, std::move(row.target).value_or("")});
    }
  }
}

void add_labels(postgres::Session& session, const PositionRange& range,
                const std::vector<Draft>& drafts) {
  const bool has_labels = std::any_of(drafts.begin(), drafts.end(), [](const Draft& draft) {
    return draft.event->kind == "label" && draft.event->op != "delete";
  });
  if (!has_labels) return;
  for (LabelRow& row : session.query<LabelRow>(sql::change_feed_labels, range.first, range.end)) {
    auto* event = find(drafts, row.pos);
    if (event != nullptr && event->op != "delete") event->label = std::move(row.json);
  }
}

/// The messages of a page.
struct AddedMessages {
  std::size_t bytes = 0;
  /// The position of the first message that exceeds the limit.
  std::optional<std::int64_t> cut;
  /// True if the log has dropped a message since its change was read.
  bool is_lost = false;
};

AddedMessages add_messages(postgres::Session& session, const std::vector<Draft>& drafts,
                           std::size_t max_bytes) {
  std::vector<std::int64_t> positions;
  for (const Draft& draft : drafts) {
    const ChangeEvent& event = *draft.event;
    if (event.kind == "message" && event.is_read) positions.push_back(event.pos);
  }
  AddedMessages added;
  if (positions.empty()) return added;
  auto rows =
      session.query<MessageRow>(sql::change_feed_messages, postgres::column(positions), max_bytes);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (i == rows.size() || rows[i].pos != positions[i]) {
      added.is_lost = i < rows.size() || added.bytes < max_bytes;
      added.cut = positions[i];
      return added;
    }
    MessageRow& row = rows[i];
    added.bytes += static_cast<std::size_t>(row.bytes);
    find(drafts, row.pos)->message = MessageContent{.id = row.id,
                                                    .key = std::move(row.key),
                                                    .enqueued_at = row.enqueued_at,
                                                    .payload = std::move(row.payload),
                                                    .headers = std::move(row.headers)};
  }
  return added;
}

/// Reads the records of some changes. Returns the position of the first record that exceeds the
/// limit, or nothing if all fit. `bytes` grows by the size of the records that were read.
std::optional<std::int64_t> add_records_of(postgres::Session& session,
                                           std::span<const Draft* const> drafts,
                                           std::size_t max_bytes, std::size_t& bytes) {
  for (const Draft* draft : drafts) draft->event->is_superseded = true;
  for (RecordRow& row : session.query<RecordRow>(
           sql::change_feed_records, postgres::column(drafts, &Draft::actor_id),
           postgres::column(drafts, &Draft::collection_id), postgres::column(drafts, &Draft::rkey),
           max_bytes)) {
    auto& event = *drafts[static_cast<std::size_t>(row.place) - 1]->event;
    if (!row.text) return event.pos;
    bytes += row.text->size();
    if (cid_text(row.cid) != event.cid) continue;
    event.is_superseded = false;
    event.record = std::move(*row.text);
  }
  return std::nullopt;
}

/// The server builds the texts of all records of a statement, even of those that exceed the limit.
/// The first statement therefore reads few records, and each further statement reads at most as
/// many as fit if they have the size of the records before. The cost for an account with records of
/// a megabyte is thus only a few times their size.
std::optional<std::int64_t> add_records(postgres::Session& session,
                                        const std::vector<Draft>& drafts, std::size_t max_bytes) {
  std::vector<const Draft*> wanted;
  for (const auto& draft : drafts) {
    const ChangeEvent& event = *draft.event;
    if (event.kind == "record" && event.op != "delete" && event.is_read) wanted.push_back(&draft);
  }
  std::span<const Draft* const> rest = wanted;
  std::size_t bytes = 0;
  std::size_t count = kFirstRecords;
  while (!rest.empty()) {
    // The first record of a page may exceed the limit.
    if (bytes >= max_bytes && bytes > 0) return rest.front()->event->pos;
    const auto part = rest.first(std::min(count, rest.size()));
    if (const auto cut = add_records_of(session, part, max_bytes - bytes, bytes)) return cut;
    rest = rest.subspan(part.size());
    const std::size_t read = wanted.size() - rest.size();
    const std::size_t fitting = (max_bytes - std::min(bytes, max_bytes)) * read / (bytes + 1) + 1;
    count = std::min(part.size() * kMoreRecords, fitting);
  }
  return std::nullopt;
}

}  // namespace

bool PageAccounts::has(AccountNumber account) const {
  if (only) return account == *only;
  return (account & (lanes - 1)) == lane &&
         !std::binary_search(without.begin(), without.end(), account);
}

LogState read_log_state(postgres::Session& session) {
  const auto bounds = session.query_one<LogBounds>(sql::change_feed_state);
  // The log may be empty, and then begins at position 1.
  return {bounds.timeline, bounds.oldest.value_or(1), bounds.end.value_or(1)};
}

std::int64_t position_at(postgres::Session& session, const LogState& state, Timestamp time) {
  std::int64_t first = state.oldest;
  std::int64_t last = state.end;
  while (first < last) {
    const auto block =
        session.query_first<BlockRow>(sql::change_feed_block_at, first + (last - first) / 2);
    if (!block) return first;
    if (block->at >= time) {
      last = block->first;
    } else {
      first = block->end;
    }
  }
  return first;
}

std::optional<ChangePage> read_page(postgres::Session& session, std::int32_t timeline,
                                    std::int64_t from, std::int64_t time_us,
                                    const ChangeFilter& filter, const PageLimits& limits,
                                    const PageAccounts& accounts,
                                    const ReadsContent& reads_content) {
  const PositionRange range{from, from + static_cast<std::int64_t>(limits.changes)};
  auto rows = session.query<ChangeRow>(sql::change_feed_changes, range.first, range.end);
  ChangePage page{.events = {}, .next = from, .time_us = time_us};
  if (rows.empty()) {
    // Without rows, either the log ends at this position, or the position was dropped.
    if (read_log_state(session).oldest > from) return std::nullopt;
    return page;
  }
  if (rows.front().pos != from) return std::nullopt;
  std::vector<Draft> drafts;
  drafts.reserve(rows.size());
  for (ChangeRow& row : rows) {
    auto draft = draft_of(std::move(row));
    const bool passes = accounts.has(draft.actor_id) && filter.passes(*draft.event);
    if (passes && drafts.size() == limits.events) break;
    page.time_us = std::max(draft.event->at.time_since_epoch().count(), page.time_us + 1);
    draft.event->timeline = timeline;
    draft.event->time_us = page.time_us;
    draft.event->is_read = !reads_content || reads_content(*draft.event);
    page.next = draft.event->pos + 1;
    if (passes) drafts.push_back(std::move(draft));
  }
  if (drafts.empty()) return page;
  add_references(session, range, drafts);
  add_labels(session, range, drafts);
  // Half of the size is left for records, so that a page never ends before its first change.
  const AddedMessages messages =
      add_messages(session, drafts, std::max<std::size_t>(limits.bytes / 2, 1));
  if (messages.is_lost) return std::nullopt;
  const auto records =
      add_records(session, drafts,
                  std::max<std::size_t>(limits.bytes - std::min(messages.bytes, limits.bytes), 1));
  const auto cut = records && messages.cut ? std::min(records, messages.cut)
                   : records               ? records
                                           : messages.cut;
  page.events.reserve(drafts.size());
  for (auto& draft : drafts) {
    if (cut && draft.event->pos >= *cut) {
      // The next page contains the change again, and reads its record.
      page.next = *cut;
      page.time_us = draft.event->time_us - 1;
      break;
    }
    page.events.push_back(std::move(draft.event));
  }
  return page;
}

}  // namespace skua::streams
