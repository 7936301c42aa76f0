#include "change_feed/log_pages.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "change_feed/log_pages.sql.hpp"

namespace skua::change_feed {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Statement;

/// The blocks with the positions from $1 to before $2.
constexpr const char* kBlocks =
    "WITH b AS MATERIALIZED (SELECT l.* FROM skua.change_log AS l WHERE l.pos < $2::int8 "
    "AND l.pos >= coalesce((SELECT m.pos FROM skua.change_log AS m WHERE m.pos <= $1::int8 "
    "ORDER BY m.pos DESC LIMIT 1), $1::int8)) ";

const Statement kChanges{
    "change_feed_changes",
    std::string(kBlocks) +
        "SELECT b.pos + c.place - 1, b.at, "
        "skua.change_kind(c.kind), "
        "(ARRAY['create', 'update', 'delete'])[c.op], a.did, k.nsid, "
        // Most keys, and revisions and CIDs, are numbers and hashes that become text here.
        "CASE WHEN c.rkey < 0 THEN bsky.rkey_text(c.actor_id, c.collection_id, c.rkey) END, "
        "c.rev, c.cid, "
        "b.val[c.place], a.active, a.status, a.handle, a.handle_valid, "
        "c.actor_id, c.collection_id, c.rkey "
        "FROM b, unnest(b.kind, b.op, b.actor_id, b.collection_id, b.rkey, b.rev, b.cid) "
        "WITH ORDINALITY AS c(kind, op, actor_id, collection_id, rkey, rev, cid, place) "
        "LEFT JOIN bsky.actors AS a ON a.id = c.actor_id "
        "LEFT JOIN bsky.collections AS k ON k.id = c.collection_id "
        "WHERE b.pos + c.place - 1 >= $1::int8 AND b.pos + c.place - 1 < $2::int8 ORDER BY 1"};

const Statement kReferences{
    "change_feed_references",
    std::string(kBlocks) +
        "SELECT b.pos + r.change, skua.reference_role(r.role), r.delta::int4, CASE WHEN "
        "r.actor_id = 0 THEN bsky.rkey_text(0, 0, r.rkey) WHEN r.collection_id = 0 THEN a.did "
        "ELSE bsky.uri(r.actor_id, r.collection_id, r.rkey) END "
        "FROM b, unnest(b.ref_change, b.ref_role, b.ref_delta, b.ref_actor, b.ref_collection, "
        "b.ref_rkey) AS r(change, role, delta, actor_id, collection_id, rkey) "
        "LEFT JOIN bsky.actors AS a ON a.id = r.actor_id "
        "WHERE b.pos + r.change >= $1::int8 AND b.pos + r.change < $2::int8 ORDER BY 1"};

const Statement kLabels{
    "change_feed_labels",
    std::string(kBlocks) +
        "SELECT b.pos + c.place - 1, jsonb_strip_nulls(jsonb_build_object("
        "'cts', bsky.time_text(l.cts), 'exp', bsky.time_text(l.exp), "
        "'cid', bsky.cid_text(l.cid)))::text "
        "FROM b, unnest(b.kind, b.actor_id, b.val) WITH ORDINALITY AS c(kind, actor_id, val, "
        "place), unnest(b.ref_change, b.ref_actor, b.ref_collection, b.ref_rkey) "
        "AS r(change, actor_id, collection_id, rkey) "
        "JOIN bsky.labels AS l ON l.subject_actor = r.actor_id "
        "AND l.subject_collection = r.collection_id AND l.subject_rkey = r.rkey "
        "WHERE c.kind = 4 AND r.change = c.place - 1 AND l.actor_id = c.actor_id "
        "AND l.val = c.val AND NOT l.neg "
        "AND b.pos + c.place - 1 >= $1::int8 AND b.pos + c.place - 1 < $2::int8"};

/// The records of the first statement of a page, and how many times more the next one may have.
constexpr std::size_t kFirstRecords = 8;
constexpr std::size_t kMoreRecords = 4;

/// A change while its page is made.
struct Draft {
  std::shared_ptr<ChangeEvent> event;
  std::int32_t actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
};

std::string text_at(const Rows& rows, std::size_t row, std::size_t column) {
  return rows.text_or_null(row, column).value_or("");
}

std::optional<bool> boolean_at(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.boolean(row, column);
}

std::string tid_text(std::int64_t number) {
  return atproto::Tid{static_cast<std::uint64_t>(number)}.to_string();
}

/// A bytea, which has the form `\x` and hexadecimal digits, as the CID of a record; empty if it is
/// null.
std::string cid_at(const Rows& rows, std::size_t row, std::size_t column) {
  const auto bytes = text_at(rows, row, column);
  atproto::Cid cid;
  if (bytes.size() != 2 + 2 * cid.digest.size()) return {};
  for (std::size_t i = 0; i < cid.digest.size(); ++i) {
    const char* digits = bytes.data() + 2 + 2 * i;
    std::from_chars(digits, digits + 2, cid.digest[i], 16);
  }
  return cid.to_string();
}

Draft draft_of(const Rows& rows, std::size_t row) {
  auto event = std::make_shared<ChangeEvent>();
  event->pos = rows.int8(row, 0);
  event->at = rows.timestamp(row, 1);
  event->kind = text_at(rows, row, 2);
  event->op = text_at(rows, row, 3);
  event->did = text_at(rows, row, 4);
  event->collection = text_at(rows, row, 5);
  const std::int64_t rkey = rows.int8(row, 16);
  if (event->kind == "record") {
    event->rkey = rkey < 0 ? text_at(rows, row, 6) : tid_text(rkey);
    event->rev = tid_text(rows.int8(row, 7));
    event->cid = cid_at(rows, row, 8);
  }
  event->val = text_at(rows, row, 9);
  event->active = boolean_at(rows, row, 10);
  event->status = text_at(rows, row, 11);
  event->handle = text_at(rows, row, 12);
  event->handle_valid = boolean_at(rows, row, 13);
  return {std::move(event), rows.int4(row, 14), rows.int4(row, 15), rkey};
}

/// The draft of a position, if it passed the filter.
ChangeEvent* find(const std::vector<Draft>& drafts, std::int64_t pos) {
  const auto found =
      std::lower_bound(drafts.begin(), drafts.end(), pos,
                       [](const Draft& draft, std::int64_t at) { return draft.event->pos < at; });
  return found != drafts.end() && found->event->pos == pos ? found->event.get() : nullptr;
}

void add_references(store::Session& session, const Params& range,
                    const std::vector<Draft>& drafts) {
  const Rows rows = session.execute(kReferences, range);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (auto* event = find(drafts, rows.int8(i, 0))) {
      event->references.push_back({text_at(rows, i, 1), rows.int4(i, 2), text_at(rows, i, 3)});
    }
  }
}

void add_labels(store::Session& session, const Params& range, const std::vector<Draft>& drafts) {
  const bool has_labels = std::any_of(drafts.begin(), drafts.end(), [](const Draft& draft) {
    return draft.event->kind == "label" && draft.event->op != "delete";
  });
  if (!has_labels) return;
  const Rows rows = session.execute(kLabels, range);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto* event = find(drafts, rows.int8(i, 0));
    if (event != nullptr && event->op != "delete") event->label = text_at(rows, i, 1);
  }
}

/// Reads the records of some changes. Returns the position of the first one that exceeds the limit;
/// nothing: none does. `bytes`: of the records that were read.
std::optional<std::int64_t> add_records_of(store::Session& session,
                                           std::span<const Draft* const> drafts,
                                           std::size_t max_bytes, std::size_t& bytes) {
  Array actors(Array::Type::int4);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  for (const Draft* draft : drafts) {
    actors.int4(draft->actor_id);
    collections.int4(draft->collection_id);
    rkeys.int8(draft->rkey);
    draft->event->is_superseded = true;
  }
  Params params;
  params.array(actors).array(collections).array(rkeys).int8(static_cast<std::int64_t>(max_bytes));
  const Rows rows = session.execute(sql::change_feed_records, params);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& event = *drafts[static_cast<std::size_t>(rows.int4(i, 0)) - 1]->event;
    if (rows.is_null(i, 2)) return event.pos;
    bytes += rows.text(i, 2).size();
    if (cid_at(rows, i, 1) != event.cid) continue;
    event.is_superseded = false;
    event.record = rows.text(i, 2);
  }
  return std::nullopt;
}

/// The server makes the text of all records of a statement, also beyond the limit. A statement
/// therefore has few records first, and then at most as many as fit if they have the size of those
/// before. An account with records of a megabyte costs a few times their size.
std::optional<std::int64_t> add_records(store::Session& session, const std::vector<Draft>& drafts,
                                        std::size_t max_bytes) {
  std::vector<const Draft*> wanted;
  for (const auto& draft : drafts) {
    const ChangeEvent& event = *draft.event;
    if (event.kind == "record" && event.op != "delete" && event.is_read) wanted.push_back(&draft);
  }
  std::span<const Draft* const> rest = wanted;
  std::size_t bytes = 0;
  std::size_t count = kFirstRecords;
  while (!rest.empty()) {
    // The first record of a page may be larger.
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

bool PageAccounts::has(std::int32_t account) const {
  if (only) return account == *only;
  return (account & (lanes - 1)) == lane &&
         !std::binary_search(without.begin(), without.end(), account);
}

LogState read_log_state(store::Session& session) {
  const Rows rows = session.execute(sql::change_feed_state, {});
  // An empty log has not begun.
  if (rows.is_null(0, 1)) return {rows.int4(0, 0), 1, 1};
  return {rows.int4(0, 0), rows.int8(0, 1), rows.int8(0, 2)};
}

std::int64_t position_at(store::Session& session, const LogState& state, Timestamp time) {
  std::int64_t first = state.oldest;
  std::int64_t last = state.end;
  while (first < last) {
    Params params;
    params.int8(first + (last - first) / 2);
    const Rows rows = session.execute(sql::change_feed_block_at, params);
    if (rows.empty()) return first;
    if (rows.timestamp(0, 2) >= time) {
      last = rows.int8(0, 0);
    } else {
      first = rows.int8(0, 1);
    }
  }
  return first;
}

std::optional<ChangePage> read_page(store::Session& session, std::int32_t timeline,
                                    std::int64_t from, std::int64_t time_us,
                                    const ChangeFilter& filter, const PageLimits& limits,
                                    const PageAccounts& accounts, const ReadsRecord& reads_record) {
  Params range;
  range.int8(from).int8(from + static_cast<std::int64_t>(limits.changes));
  const Rows rows = session.execute(kChanges, range);
  ChangePage page{.events = {}, .next = from, .time_us = time_us};
  if (rows.empty()) {
    // A partition may have been dropped below this position only.
    if (read_log_state(session).oldest > from) return std::nullopt;
    return page;
  }
  if (rows.int8(0, 0) != from) return std::nullopt;
  std::vector<Draft> drafts;
  drafts.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto draft = draft_of(rows, i);
    const bool passes = accounts.has(draft.actor_id) && filter.passes(*draft.event);
    if (passes && drafts.size() == limits.events) break;
    page.time_us = std::max(draft.event->at.time_since_epoch().count(), page.time_us + 1);
    draft.event->timeline = timeline;
    draft.event->time_us = page.time_us;
    draft.event->is_read = !reads_record || reads_record(*draft.event);
    page.next = draft.event->pos + 1;
    if (passes) drafts.push_back(std::move(draft));
  }
  if (drafts.empty()) return page;
  add_references(session, range, drafts);
  add_labels(session, range, drafts);
  const auto cut = add_records(session, drafts, limits.bytes);
  page.events.reserve(drafts.size());
  for (auto& draft : drafts) {
    if (cut && draft.event->pos >= *cut) {
      // The next page repeats the change, and reads its record then.
      page.next = *cut;
      page.time_us = draft.event->time_us - 1;
      break;
    }
    page.events.push_back(std::move(draft.event));
  }
  return page;
}

}  // namespace skua::change_feed
