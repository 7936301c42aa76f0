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
using postgres::column;

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

/// Returns the change of a subject's label, or nothing if the label did not change.
std::optional<tables::ChangeOperation> operation_of(bool was_set, bool is_set, bool differs) {
  if (!was_set && !is_set) return std::nullopt;
  if (!was_set) return tables::ChangeOperation::Create;
  if (!is_set) return tables::ChangeOperation::Delete;
  if (differs) return tables::ChangeOperation::Update;
  return std::nullopt;
}

using LabelKey = std::tuple<AccountNumber, Subject, std::string_view>;

/// A label of a labeler about a subject.
struct GivenLabel {
  const Label* label = nullptr;
  std::int64_t seq = 0;
  bool is_older_than(const GivenLabel& other) const {
    return std::tie(label->cts, seq) < std::tie(other.label->cts, other.seq);
  }
};
using GivenLabels = std::map<LabelKey, GivenLabel>;

/// `place` counts from 0. `was_set` tells whether the subject had the label before, and `differs`
/// whether the CID or the expiry of the label changed.
struct WrittenLabel {
  std::int64_t place;
  bool was_set;
  bool differs;
};

struct PurgedLabel {
  AccountNumber subject_actor;
  std::int32_t subject_collection;
  std::int64_t subject_rkey;
  std::string val;
  bool neg;
};

/// Writes the labels that are newer than the stored ones.
std::vector<WrittenLabel> upsert(postgres::Session& session, const GivenLabels& newest,
                                 Timestamp indexed_at) {
  const auto of_subject = [&](auto member) {
    return column(newest,
                  [=](const auto& entry) { return std::get<Subject>(entry.first).*member; });
  };
  const auto of_label = [&](auto member) {
    return column(newest, [=](const auto& entry) { return entry.second.label->*member; });
  };
  const auto digest = [](const auto& entry) -> std::optional<ByteView> {
    if (!entry.second.label->cid) return std::nullopt;
    return entry.second.label->cid->digest;
  };
  return session.query<WrittenLabel>(
      sql::labels_upsert,
      column(newest, [](const auto& entry) { return std::get<AccountNumber>(entry.first); }),
      of_subject(&Subject::actor_id), of_subject(&Subject::collection_id),
      of_subject(&Subject::rkey), of_label(&Label::val), column(newest, digest),
      of_label(&Label::neg), of_label(&Label::cts), of_label(&Label::exp),
      column(newest, [](const auto& entry) { return entry.second.seq; }), indexed_at);
}

}  // namespace

std::size_t write_labels(postgres::Session& session,
                         std::span<const event::ResolvedEvent* const> events, Timestamp indexed_at,
                         Effects& effects) {
  GivenLabels newest;
  std::size_t labels = 0;
  for (const event::ResolvedEvent* event : events) {
    const auto* change = std::get_if<event::LabelChange>(&event->event.body);
    if (change == nullptr) continue;
    ++labels;
    const GivenLabel given{&change->label, event->event.seq};
    const LabelKey key{event->actor_id, subject_of(change->label), change->label.val};
    const auto [place, inserted] = newest.try_emplace(key, given);
    if (!inserted && place->second.is_older_than(given)) place->second = given;
  }
  if (labels == 0) return 0;

  std::vector<const GivenLabels::value_type*> by_place;
  by_place.reserve(newest.size());
  for (const auto& entry : newest) by_place.push_back(&entry);
  std::size_t changed = 0;
  for (const WrittenLabel& written : upsert(session, newest, indexed_at)) {
    const auto& [key, given] = *by_place.at(static_cast<std::size_t>(written.place));
    const auto operation = operation_of(written.was_set, !given.label->neg, written.differs);
    if (!operation) continue;
    const auto& [actor_id, subject, val] = key;
    effects.label_changed(actor_id, *operation,
                          {subject.actor_id, subject.collection_id, subject.rkey}, val);
    ++changed;
  }
  return labels - changed;
}

std::size_t purge_labels(postgres::Session& session, AccountNumber actor_id, Timestamp said_at,
                         std::size_t limit, Effects& effects) {
  const auto removed = session.query<PurgedLabel>(sql::labels_purge, actor_id, said_at, limit);
  for (const PurgedLabel& label : removed) {
    if (label.neg) continue;
    effects.label_changed(actor_id, tables::ChangeOperation::Delete,
                          {label.subject_actor, label.subject_collection, label.subject_rkey},
                          label.val);
  }
  return removed.size();
}

}  // namespace skua::writer
