#include "writer/tables/labels.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace skua::writer {
namespace {

using event::Label;
using store::Array;

// In the order of the key, so that two writers never wait for each other in a circle.
const store::Statement kUpsertLabels{
    "labels_upsert",
    "WITH l AS MATERIALIZED (SELECT l.* FROM unnest($1::int4[], $2::int4[], $3::int4[], "
    "$4::int8[], $5::text[], $6::bytea[], $7::boolean[], $8::timestamptz[], $9::timestamptz[], "
    "$10::int8[]) WITH ORDINALITY AS l(actor_id, subject_actor, subject_collection, subject_rkey, "
    "val, cid, neg, cts, exp, seq, place) "
    "JOIN bsky.actors a ON a.id = l.actor_id "
    "WHERE a.floor_rev = 0 OR a.active IS NOT FALSE OR a.status IS DISTINCT FROM 'deleted' "
    "OR l.cts > a.status_time), "
    // No other transaction writes labels of these labelers.
    "old AS MATERIALIZED (SELECT l.place - 1 AS place, coalesce(NOT t.neg, false) AS was_set, "
    "(t.cid, t.exp) IS DISTINCT FROM (l.cid, l.exp) AS differs FROM l LEFT JOIN bsky.labels AS t "
    "USING (actor_id, subject_actor, subject_collection, subject_rkey, val) "
    "WHERE t.cts IS NULL OR (t.cts, t.seq) < (l.cts, l.seq)), "
    "written AS (INSERT INTO bsky.labels AS t (actor_id, subject_actor, subject_collection, "
    "subject_rkey, val, cid, neg, cts, exp, seq, indexed_at) "
    "SELECT l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.val, l.cid, "
    "l.neg, l.cts, l.exp, l.seq, $11::timestamptz FROM l ORDER BY 1, 2, 3, 4, 5 "
    "ON CONFLICT (actor_id, subject_actor, subject_collection, subject_rkey, val) DO UPDATE SET "
    "cid = EXCLUDED.cid, neg = EXCLUDED.neg, cts = EXCLUDED.cts, exp = EXCLUDED.exp, "
    "seq = EXCLUDED.seq, indexed_at = EXCLUDED.indexed_at "
    "WHERE (t.cts, t.seq) < (EXCLUDED.cts, EXCLUDED.seq)) SELECT * FROM old"};

const store::Statement kPurge{
    "labels_purge",
    "DELETE FROM bsky.labels WHERE ctid = ANY(ARRAY(SELECT ctid FROM bsky.labels "
    "WHERE actor_id = $1::int4 AND cts <= $2::timestamptz LIMIT $3::int8)) "
    "RETURNING subject_actor, subject_collection, subject_rkey, val, neg"};

/// The subject in the key of the table. A URI that names neither an account nor a record has only
/// a number.
struct Subject {
  std::int32_t actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

Subject subject_of(const Label& label) {
  if (const auto* record = std::get_if<records::RecordRef>(&label.subject)) {
    return {record->actor_id, record->collection_id, record->rkey_number};
  }
  if (const auto* other = std::get_if<event::UriRef>(&label.subject)) {
    return {0, 0, other->number};
  }
  return {std::get<records::ActorRef>(label.subject).id, 0, 0};
}

/// How a subject's label changed; nothing: it did not.
std::optional<store::ChangeOperation> operation_of(bool was_set, bool is_set, bool differs) {
  if (!was_set && !is_set) return std::nullopt;
  if (!was_set) return store::ChangeOperation::Create;
  if (!is_set) return store::ChangeOperation::Delete;
  if (differs) return store::ChangeOperation::Update;
  return std::nullopt;
}

using LabelKey = std::tuple<std::int32_t, Subject, std::string_view>;

struct Word {
  const Label* label = nullptr;
  std::int64_t seq = 0;
  bool is_older_than(const Word& other) const {
    return std::tie(label->cts, seq) < std::tie(other.label->cts, other.seq);
  }
};

}  // namespace

std::size_t write_labels(store::Session& session,
                         std::span<const event::ResolvedEvent* const> events, Timestamp indexed_at,
                         Effects& effects) {
  std::map<LabelKey, Word> newest;
  std::size_t labels = 0;
  for (const event::ResolvedEvent* event : events) {
    const auto* change = std::get_if<event::LabelChange>(&event->event.body);
    if (change == nullptr) continue;
    ++labels;
    const Word word{&change->label, event->event.seq};
    const LabelKey key{event->actor_id, subject_of(change->label), change->label.val};
    const auto [place, inserted] = newest.try_emplace(key, word);
    if (!inserted && place->second.is_older_than(word)) place->second = word;
  }
  if (labels == 0) return 0;

  Array actors(Array::Type::int4);
  Array subject_actors(Array::Type::int4);
  Array subject_collections(Array::Type::int4);
  Array subject_rkeys(Array::Type::int8);
  Array vals(Array::Type::text);
  Array cids(Array::Type::bytea);
  Array negs(Array::Type::boolean);
  Array made(Array::Type::timestamptz);
  Array expiries(Array::Type::timestamptz);
  Array seqs(Array::Type::int8);
  for (const auto& [key, word] : newest) {
    const auto& [actor_id, subject, val] = key;
    const Label& label = *word.label;
    actors.int4(actor_id);
    subject_actors.int4(subject.actor_id);
    subject_collections.int4(subject.collection_id);
    subject_rkeys.int8(subject.rkey);
    vals.text(val);
    label.cid ? cids.bytea(label.cid->digest) : cids.null();
    negs.boolean(label.neg);
    made.timestamp(label.cts);
    label.exp ? expiries.timestamp(*label.exp) : expiries.null();
    seqs.int8(word.seq);
  }
  store::Params params;
  params.array(actors).array(subject_actors).array(subject_collections).array(subject_rkeys);
  params.array(vals).array(cids).array(negs).array(made).array(expiries).array(seqs);
  params.timestamp(indexed_at);
  const store::Rows written = session.execute(kUpsertLabels, params);
  std::vector<std::pair<const LabelKey*, const Word*>> by_place;
  by_place.reserve(newest.size());
  for (const auto& [key, word] : newest) by_place.emplace_back(&key, &word);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& [key, word] = by_place.at(static_cast<std::size_t>(written.int8(i, 0)));
    const auto operation =
        operation_of(written.boolean(i, 1), !word->label->neg, written.boolean(i, 2));
    if (!operation) continue;
    const auto& [actor_id, subject, val] = *key;
    effects.label_changed(actor_id, *operation,
                          {subject.actor_id, subject.collection_id, subject.rkey}, val);
    ++changed;
  }
  return labels - changed;
}

std::size_t purge_labels(store::Session& session, std::int32_t actor_id, Timestamp said_at,
                         std::size_t limit, Effects& effects) {
  store::Params params;
  params.int4(actor_id).timestamp(said_at).int8(static_cast<std::int64_t>(limit));
  const store::Rows removed = session.execute(kPurge, params);
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (removed.boolean(i, 4)) continue;
    effects.label_changed(actor_id, store::ChangeOperation::Delete,
                          {removed.int4(i, 0), removed.int4(i, 1), removed.int8(i, 2)},
                          removed.text(i, 3));
  }
  return removed.size();
}

}  // namespace skua::writer
