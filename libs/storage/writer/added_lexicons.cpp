#include "writer/added_lexicons.hpp"

#include <chrono>
#include <variant>

#include "atproto/data_model.hpp"
#include "base/log.hpp"
#include "lexicon/violation.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::writer {
namespace {

constexpr std::chrono::seconds kPause{1};

/// Whether an added lexicon can concern the event.
bool has_open_record(const event::ResolvedEvent& event) {
  const auto* change = std::get_if<event::RecordChange>(&event.event.body);
  return change != nullptr && change->operation != event::Operation::Delete &&
         std::holds_alternative<std::monostate>(change->record.record) &&
         !change->record.invalid_reason;
}

}  // namespace

std::optional<std::string> added_violation(const lexicon_store::AddedChecks& checks,
                                           const event::RecordChange& change) {
  const lexicon::Node* type = checks.record(change.collection);
  if (type == nullptr || records::typed_collection_id(change.collection) != 0) return std::nullopt;
  atproto::Document document;
  // The decoder has already read this block without an error.
  if (!repo::read_dag_cbor(change.block, document, repo::kAnyForm)) return std::nullopt;
  return lexicon::find_violation(*checks.schema, *type, document.root());
}

void AddedLexicons::check(postgres::Session& session,
                          std::span<event::ResolvedEvent* const> events) {
  Checks checks;
  for (event::ResolvedEvent* event : events) {
    if (!has_open_record(*event)) continue;
    if (!checks) checks = current(session);
    if (!checks->schema) return;
    event->record().invalid_reason = added_violation(*checks, event->change());
  }
}

AddedLexicons::Checks AddedLexicons::current(postgres::Session& session) {
  const State known = state_.with([](const State& state) { return state; });
  const Timestamp now = monotonic_.now();
  if (known.checks && now < known.looked_at + kPause) return known.checks;
  Checks checks = lexicon_store::load_added_checks(session, known.checks);
  if (checks != known.checks && !checks->fault.empty()) {
    logger("writer")->warn("the added lexicons cannot be used, records are not checked: {}",
                           checks->fault);
  }
  state_.with([&](State& state) { state = {checks, now}; });
  return checks;
}

}  // namespace skua::writer
