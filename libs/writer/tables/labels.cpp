#include "writer/tables/labels.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/account_number.hpp"
#include "writer/tables/labels.sql.hpp"

namespace skua::writer {
namespace {

using event::Label;
using store::Array;

/// The subject in the key of the table. A URI that names neither an account nor a record has only
/// a number.
struct Subject {
  AccountNumber actor_id = 0;
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

  Array actors(Array::Type::int8);
  Array subject_actors(Array::Type::int8);
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
    actors.int8(actor_id);
    subject_actors.int8(subject.actor_id);
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
  const store::Rows written = session.execute(sql::labels_upsert, params);
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

std::size_t purge_labels(store::Session& session, AccountNumber actor_id, Timestamp said_at,
                         std::size_t limit, Effects& effects) {
  store::Params params;
  params.int8(actor_id).timestamp(said_at).int8(static_cast<std::int64_t>(limit));
  const store::Rows removed = session.execute(sql::labels_purge, params);
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (removed.boolean(i, 4)) continue;
    effects.label_changed(actor_id, store::ChangeOperation::Delete,
                          {removed.int8(i, 0), removed.int4(i, 1), removed.int8(i, 2)},
                          removed.text(i, 3));
  }
  return removed.size();
}

}  // namespace skua::writer
