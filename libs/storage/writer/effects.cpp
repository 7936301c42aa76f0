#include "writer/effects.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "writer/table_writer.hpp"

namespace skua::writer {

using tables::Change;
using tables::ChangedReference;
using tables::ChangeKind;
using tables::ChangeOperation;

namespace {

std::int64_t int8_of(atproto::Tid rev) {
  return static_cast<std::int64_t>(rev.value);
}

Change change_of(const event::ResolvedEvent& event, ChangeOperation operation) {
  return {.operation = operation,
          .actor_id = event.actor_id,
          .collection_id = event.collection_id,
          .rkey = event.rkey_number,
          .rev = int8_of(event.change().rev),
          .cid = event.change().cid.value().digest};
}

auto identity_of(const Change& change) {
  return std::tie(change.kind, change.actor_id, change.collection_id, change.rkey, change.val);
}

}  // namespace

void Effects::add(const Change& change) {
  block_.changes.push_back(change);
}

void Effects::add_reference(const CountedReference& reference, std::int16_t delta) {
  if (reference.counts_once) once_.push_back(block_.references.size());
  block_.references.push_back({block_.changes.size() - 1, reference.role, delta, reference.target});
}

void Effects::created(const event::ResolvedEvent& event, const CountedReferences& now) {
  add(change_of(event, ChangeOperation::Create));
  for (const CountedReference& reference : now) add_reference(reference, 1);
}

void Effects::updated(const event::ResolvedEvent& event, const CountedReferences& before,
                      const CountedReferences& now) {
  add(change_of(event, ChangeOperation::Update));
  const auto contains = [](const CountedReferences& all, const CountedReference& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const CountedReference& reference : before) {
    if (!contains(now, reference)) add_reference(reference, -1);
  }
  for (const CountedReference& reference : now) {
    if (!contains(before, reference)) add_reference(reference, 1);
  }
}

void Effects::removed(const RecordKey& key, std::int64_t rev, const CountedReferences& before) {
  add({.operation = ChangeOperation::Delete,
       .actor_id = key.actor_id,
       .collection_id = key.collection_id,
       .rkey = key.rkey,
       .rev = rev});
  for (const CountedReference& reference : before) add_reference(reference, -1);
}

void Effects::account_changed(AccountNumber actor_id, bool is_deleted) {
  add({.kind = ChangeKind::Account,
       .operation = is_deleted ? ChangeOperation::Delete : ChangeOperation::Update,
       .actor_id = actor_id});
}

void Effects::handle_changed(AccountNumber actor_id) {
  add({.kind = ChangeKind::Handle, .operation = ChangeOperation::Update, .actor_id = actor_id});
}

void Effects::label_changed(AccountNumber labeler, ChangeOperation operation,
                            const tables::ReferenceTarget& subject, std::string_view val) {
  add({.kind = ChangeKind::Label,
       .operation = operation,
       .actor_id = labeler,
       .val = std::string(val)});
  // An update changes no count, because its subject is the same as before.
  const std::int16_t delta = operation == ChangeOperation::Create   ? 1
                             : operation == ChangeOperation::Delete ? -1
                                                                    : 0;
  add_reference({tables::ReferenceRole::Label, false, subject}, delta);
}

std::size_t Effects::finish(postgres::Session& session) {
  if (empty()) return 0;
  join_moves();
  if (!tables::is_logging_changes(session)) return block_.changes.size();
  decide_duplicates(session);
  count_following();
  sort_by_revision();
  tables::append_changes(session, block_);
  crash_point("after_append");
  return block_.changes.size();
}

void Effects::reorder(const std::vector<std::size_t>& order) {
  std::vector<Change> changes;
  changes.reserve(order.size());
  std::vector<std::size_t> place(block_.changes.size());
  for (const std::size_t index : order) {
    place[index] = changes.size();
    changes.push_back(std::move(block_.changes[index]));
  }
  block_.changes = std::move(changes);
  for (ChangedReference& reference : block_.references) reference.change = place[reference.change];
}

void Effects::join_moves() {
  std::vector<Change>& changes = block_.changes;
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return identity_of(changes[a]) < identity_of(changes[b]);
  });
  // Only records move. Two labels of a batch may have equal keys here, because the key lacks the
  // subject.
  const auto is_move = [&](std::size_t a, std::size_t b) {
    return changes[a].kind == ChangeKind::Record &&
           identity_of(changes[a]) == identity_of(changes[b]);
  };
  if (std::adjacent_find(order.begin(), order.end(), is_move) == order.end()) return;

  std::vector<std::size_t> kept;
  std::vector<std::size_t> joined_with(changes.size());
  for (const std::size_t index : order) {
    if (!kept.empty() && is_move(kept.back(), index)) {
      Change& first = changes[kept.back()];
      first.operation = ChangeOperation::Update;
      if (!first.cid) first.cid = changes[index].cid;
      first.rev = std::max(first.rev, changes[index].rev);
    } else {
      kept.push_back(index);
    }
    joined_with[index] = kept.back();
  }
  for (ChangedReference& reference : block_.references) {
    reference.change = joined_with[reference.change];
  }
  reorder(kept);
}

void Effects::count_following() {
  const std::size_t end = block_.references.size();
  for (std::size_t i = 0; i < end; ++i) {
    const ChangedReference follow = block_.references[i];
    if (follow.role != tables::ReferenceRole::Follow || follow.delta == 0) continue;
    block_.references.push_back({.change = follow.change,
                                 .role = tables::ReferenceRole::Following,
                                 .delta = follow.delta,
                                 .target = {block_.changes[follow.change].actor_id, 0, 0}});
  }
}

void Effects::sort_by_revision() {
  const std::vector<Change>& changes = block_.changes;
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto earlier = [&](std::size_t a, std::size_t b) {
    return std::tie(changes[a].actor_id, changes[a].rev) <
           std::tie(changes[b].actor_id, changes[b].rev);
  };
  std::stable_sort(order.begin(), order.end(), earlier);
  reorder(order);
  std::sort(block_.references.begin(), block_.references.end(), [](const auto& a, const auto& b) {
    return std::tie(a.change, a.role, a.delta, a.target) <
           std::tie(b.change, b.role, b.delta, b.target);
  });
}

/// A counted reference of a transaction, with its account and its target.
struct Effects::OnceReference {
  RecordKey owner;  // without an rkey
  tables::ReferenceTarget target;
  std::size_t reference = 0;

  auto key() const { return std::tie(owner.collection_id, owner.actor_id, target); }
};

void Effects::decide_duplicates(postgres::Session& session) {
  if (once_.empty()) return;
  std::vector<ChangedReference>& references = block_.references;
  std::vector<OnceReference> all;
  all.reserve(once_.size());
  for (const std::size_t index : once_) {
    const Change& change = block_.changes[references[index].change];
    all.push_back({{change.actor_id, change.collection_id, 0}, references[index].target, index});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });

  // A run is the references of one account to one target. One statement asks for all runs of a
  // table.
  struct Run {
    std::span<const OnceReference> members;
    std::int64_t added = 0;
    std::int64_t removed = 0;
  };
  std::vector<Run> runs;
  std::vector<ReferenceQuestion> questions;
  for (auto first = all.begin(); first != all.end();) {
    const std::int32_t collection_id = first->owner.collection_id;
    runs.clear();
    questions.clear();
    while (first != all.end() && first->owner.collection_id == collection_id) {
      const auto last = std::find_if(
          first, all.end(), [&](const OnceReference& one) { return one.key() != first->key(); });
      Run run{.members = {first, last}};
      for (const OnceReference& one : run.members) {
        (references[one.reference].delta > 0 ? run.added : run.removed) += 1;
      }
      questions.push_back({.actor_id = first->owner.actor_id,
                           .target = first->target,
                           .added = run.added,
                           .removed = run.removed,
                           .rkey = block_.changes[references[first->reference].change].rkey});
      runs.push_back(run);
      first = last;
    }
    const std::vector<std::int64_t> stored =
        table_of(collection_id)->count_references(session, questions);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      const bool is_there = stored[i] > 0;
      const bool was_there = stored[i] - run.added + run.removed > 0;
      const std::int16_t delta =
          static_cast<std::int16_t>(static_cast<int>(is_there) - static_cast<int>(was_there));
      bool is_counted = delta == 0;
      for (const OnceReference& one : run.members) {
        ChangedReference& reference = references[one.reference];
        if (!is_counted && reference.delta == delta) {
          is_counted = true;
        } else {
          reference.delta = 0;
        }
      }
    }
  }
}

}  // namespace skua::writer
