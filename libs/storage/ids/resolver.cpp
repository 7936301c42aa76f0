#include "ids/resolver.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "ids/record_keys.sql.hpp"
#include "tables/account_groups.hpp"
#include "tables/record_key.hpp"

namespace skua::ids {
namespace {

using event::RecordChange;
using event::ResolvedEvent;
using records::ActorRef;
using records::RecordRef;

RecordChange* change_of(ResolvedEvent& event) {
  return std::get_if<RecordChange>(&event.event.body);
}

bool is_rejection(const ResolvedEvent& event) {
  return std::holds_alternative<event::Rejection>(event.event.body);
}

/// Calls `visit` with each ActorRef& and RecordRef& of the event. Events that delete have none.
template <class F>
void visit_references(ResolvedEvent& event, F&& visit) {
  if (RecordChange* change = change_of(event)) {
    records::visit_references(change->record.record, visit);
  } else if (auto* label = std::get_if<event::LabelChange>(&event.event.body)) {
    std::visit(
        [&](auto& subject) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(subject)>, event::UriRef>) {
            visit(subject);
          }
        },
        label->label.subject);
  }
}

/// Returns null if the event is not a label whose subject is a URI.
event::UriRef* labelled_uri_of(ResolvedEvent& event) {
  auto* label = std::get_if<event::LabelChange>(&event.event.body);
  return label != nullptr ? std::get_if<event::UriRef>(&label->label.subject) : nullptr;
}

template <class F>
void visit_record_references(ResolvedEvent& event, F&& visit) {
  visit_references(event, [&](auto& reference) {
    if constexpr (std::is_same_v<std::decay_t<decltype(reference)>, RecordRef>) visit(reference);
  });
}

/// Whether the CID of a reference is the one with this hash. kNoCid is the hash of no CID.
bool has_cid(const RecordRef& reference, KnownPosts::CidHash hash) {
  return reference.cid && hash != KnownPosts::kNoCid &&
         KnownPosts::hash_of(reference.cid->digest) == hash;
}

/// Calls `visit(did, id)` for the event's own account and for the accounts that the event refers
/// to.
template <class F>
void visit_actors(ResolvedEvent& event, F&& visit) {
  if (is_rejection(event)) return;
  visit(event.event.did, event.actor_id);
  visit_references(event, [&](auto& reference) {
    if constexpr (std::is_same_v<std::decay_t<decltype(reference)>, ActorRef>) {
      visit(reference.did, reference.id);
    } else {
      visit(reference.did, reference.actor_id);
    }
  });
}

/// Calls `visit(nsid, id)` for the event's own collection and for the collections of the records
/// that the event refers to.
template <class F>
void visit_collections(ResolvedEvent& event, F&& visit) {
  if (const RecordChange* change = change_of(event)) {
    visit(change->collection, event.collection_id);
  }
  visit_record_references(
      event, [&](RecordRef& reference) { visit(reference.collection, reference.collection_id); });
}

}  // namespace

std::vector<KnownPosts::Key> posts_written_by(std::span<const ResolvedEvent* const> events) {
  std::vector<KnownPosts::Key> posts;
  for (const ResolvedEvent* event : events) {
    const auto* change = std::get_if<RecordChange>(&event->event.body);
    if (change == nullptr || event->collection_id != records::Post::kCollectionId) continue;
    // The row of a post that breaks its lexicon is in `bsky.records`.
    if (std::holds_alternative<std::monostate>(change->record.record)) continue;
    posts.push_back({event->actor_id, event->rkey_number});
  }
  return posts;
}

std::vector<Conflict> Resolver::resolve(std::span<ResolvedEvent> events) {
  std::vector<ResolvedEvent*> pointers;
  pointers.reserve(events.size());
  for (ResolvedEvent& event : events) pointers.push_back(&event);
  return resolve(pointers);
}

std::vector<Conflict> Resolver::resolve(Events events) {
  std::vector<Conflict> conflicts;
  if (!find_known(events)) conflicts = beyond_share(events);
  if (conflicts.empty()) return resolve_all(events);
  std::vector<ResolvedEvent*> rest;
  std::vector<std::size_t> indices;
  auto next = conflicts.begin();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (next != conflicts.end() && next->index == i) {
      ++next;
      continue;
    }
    rest.push_back(events[i]);
    indices.push_back(i);
  }
  for (Conflict& conflict : resolve_all(rest)) {
    conflicts.push_back({indices[conflict.index], std::move(conflict.reason)});
  }
  std::sort(conflicts.begin(), conflicts.end(),
            [](const Conflict& a, const Conflict& b) { return a.index < b.index; });
  return conflicts;
}

std::vector<Conflict> Resolver::beyond_share(Events events) {
  std::vector<Conflict> conflicts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ResolvedEvent& event = *events[i];
    // A repository may mention any number of accounts, because the limits of downloads bound the
    // number.
    if (event.event.source == event::EventSource::Backfill || change_of(event) == nullptr) continue;
    std::size_t unknown = 0;
    visit_actors(event, [&](std::string_view /*did*/, AccountNumber id) {
      if (id == 0) ++unknown;
    });
    if (unknown == 0 || ids_.number_shares.take(event.event.did, unknown)) continue;
    conflicts.push_back({i, "the account mentions more new accounts than its share permits"});
  }
  return conflicts;
}

std::vector<Conflict> Resolver::resolve_all(Events events) {
  const std::vector<AccountNumber> new_actors = resolve_actors(events);
  const std::vector<Conflict> without_number = resolve_collections(events);
  std::vector<Conflict> conflicts = resolve_keys(events);
  for (const std::vector<Conflict>& others : {without_number, foreign(events)}) {
    if (others.empty()) continue;
    std::vector<Conflict> both;
    std::ranges::set_union(others, conflicts, std::back_inserter(both), {}, &Conflict::index,
                           &Conflict::index);
    conflicts = std::move(both);
  }
  insert_stubs(events, conflicts, new_actors);
  return conflicts;
}

bool Resolver::find_known(Events events) {
  bool are_all_known = true;
  const ResolvedEvent* last = nullptr;
  for (ResolvedEvent* event : events) {
    // Historical events come account by account, so the previous event often has the same account.
    if (last != nullptr && event->event.did == last->event.did) event->actor_id = last->actor_id;
    last = event;
    visit_actors(*event, [&](std::string_view did, AccountNumber& id) {
      if (id == 0) id = ids_.actors.find(did);
      are_all_known = are_all_known && id != 0;
    });
  }
  return are_all_known;
}

std::vector<AccountNumber> Resolver::resolve_actors(Events events) {
  std::vector<std::string_view> missing;
  for (ResolvedEvent* event : events) {
    visit_actors(*event, [&](std::string_view did, AccountNumber id) {
      if (id == 0) missing.push_back(did);
    });
  }
  if (missing.empty()) return {};
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  FoundActors found = find_or_insert_actors(session_, ids_.actors, ids_.claims, ids_.numbers,
                                            missing, clock_.now());
  for (ResolvedEvent* event : events) {
    visit_actors(*event, [&](std::string_view did, AccountNumber& id) {
      if (id == 0) id = found.ids.at(did);
    });
  }
  return std::move(found.inserted);
}

std::vector<Conflict> Resolver::foreign(Events events) {
  const tables::AccountGroups groups = ids_.numbers.scheme(session_).groups;
  if (groups.owned.has_all()) return {};
  std::vector<Conflict> conflicts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_rejection(*events[i]) || groups.owned.has(groups.group_of(events[i]->actor_id)))
      continue;
    conflicts.push_back({i, "the account is of " + tables::foreign_text(events[i]->event.did)});
  }
  return conflicts;
}

std::vector<Conflict> Resolver::resolve_collections(Events events) {
  std::vector<std::string_view> names;
  std::vector<std::int32_t*> places;
  for (ResolvedEvent* event : events) {
    visit_collections(*event, [&](std::string_view nsid, std::int32_t& id) {
      id = records::typed_collection_id(nsid);
      if (id != 0) return;
      names.push_back(nsid);
      places.push_back(&id);
    });
  }
  if (names.empty()) return {};
  const std::vector<std::int32_t> ids = ids_.collections.ids_of(session_, names);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = ids[i];
  if (std::find(ids.begin(), ids.end(), 0) == ids.end()) return {};
  std::vector<Conflict> conflicts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    visit_collections(*events[i], [&](std::string_view nsid, std::int32_t id) {
      if (id != 0 || (!conflicts.empty() && conflicts.back().index == i)) return;
      conflicts.push_back({i, fmt::format("another collection has the number of '{}'", nsid)});
    });
  }
  return conflicts;
}

std::vector<Conflict> Resolver::resolve_keys(Events events) {
  std::map<tables::RecordKey, KeyText> texts;
  std::vector<std::pair<std::size_t, tables::RecordKey>> users;  // event index, key
  std::map<std::size_t, std::string> reasons;

  const auto conflict = [&](std::size_t index, std::string_view text, std::string_view stored) {
    reasons.emplace(index, fmt::format("record key '{}' has the number of '{}', which came first",
                                       text, stored));
  };
  const auto use = [&](std::size_t index, const tables::RecordKey& key, KeyText text) {
    const auto [place, is_new] = texts.try_emplace(key, text);
    if (!is_new && place->second.text != text.text) {
      conflict(index, text.text, place->second.text);
      return;
    }
    place->second.insert = place->second.insert || text.insert;
    users.emplace_back(index, key);
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    ResolvedEvent& event = *events[i];
    if (const RecordChange* change = change_of(event)) {
      const tables::RkeyNumber number = tables::rkey_number(change->rkey);
      event.rkey_number = number.value;
      if (number.needs_text) {
        use(i, {event.actor_id, event.collection_id, number.value},
            {change->rkey, change->operation != event::Operation::Delete});
      }
    }
    if (event::UriRef* subject = labelled_uri_of(event)) {
      subject->number = tables::rkey_number(subject->uri).value;
      use(i, {0, 0, subject->number}, {subject->uri});
    }
    visit_record_references(event, [&](RecordRef& reference) {
      const tables::RkeyNumber number = tables::rkey_number(reference.rkey);
      reference.rkey_number = number.value;
      if (number.needs_text) {
        use(i, {reference.actor_id, reference.collection_id, number.value}, {reference.rkey});
      }
    });
  }
  if (!texts.empty()) {
    const KeyConflicts stored = store_key_texts(session_, ids_.numbers.scheme(session_), texts);
    for (const auto& [index, key] : users) {
      if (const auto place = stored.find(key); place != stored.end()) {
        conflict(index, texts.at(key).text, place->second);
      }
    }
  }
  std::vector<Conflict> conflicts;
  conflicts.reserve(reasons.size());
  for (auto& [index, reason] : reasons) conflicts.push_back({index, std::move(reason)});
  return conflicts;
}

void Resolver::insert_stubs(Events events, const std::vector<Conflict>& conflicts,
                            std::span<const AccountNumber> new_actors) {
  std::vector<MentionedPost> missing;
  std::vector<RecordRef*> unknown;  // the references to `missing`
  if (ids_.posts.is_look_due(std::chrono::steady_clock::now())) {
    ids_.posts.looked_for_retention(session_.query_one<bool>(sql::posts_have_retention));
  }
  const bool relies = ids_.posts.relies_on_first_cids();
  const ActorNumbers::Scheme scheme = ids_.numbers.scheme(session_);
  auto next_conflict = conflicts.begin();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (next_conflict != conflicts.end() && next_conflict->index == i) {
      ++next_conflict;
      continue;
    }
    // No index finds the profiles that pin a post, so retention could not find such a reference.
    const bool has_index = events[i]->collection_id != records::Profile::kCollectionId;
    visit_record_references(*events[i], [&](RecordRef& reference) {
      if (reference.collection_id != records::Post::kCollectionId) return;
      // The row of the post is on its own node, so the reference keeps its CID.
      if (scheme.is_of_other_node(reference.actor_id)) return;
      const KnownPosts::Key key{reference.actor_id, reference.rkey_number};
      if (const auto first_cid = ids_.posts.find(key)) {
        reference.has_first_cid = relies && has_index && has_cid(reference, *first_cid);
        return;
      }
      if (relies && has_index) unknown.push_back(&reference);
      missing.push_back(
          {key, relies && reference.cid ? std::optional(reference.cid->digest) : std::nullopt});
    });
  }
  if (missing.empty()) return;
  // Of several CIDs for a post, the one of the first event that has one stays.
  std::stable_sort(missing.begin(), missing.end(),
                   [](const MentionedPost& one, const MentionedPost& other) {
                     return std::tuple(one.key, !one.cid) < std::tuple(other.key, !other.cid);
                   });
  missing.erase(std::unique(missing.begin(), missing.end(),
                            [](const MentionedPost& one, const MentionedPost& other) {
                              return one.key == other.key;
                            }),
                missing.end());
  insert_post_stubs(session_, ids_.posts, ids_.post_claims, missing, new_actors, clock_.now());
  for (RecordRef* reference : unknown) {
    const auto first_cid = ids_.posts.find({reference->actor_id, reference->rkey_number});
    reference->has_first_cid = first_cid && has_cid(*reference, *first_cid);
  }
}

}  // namespace skua::ids
