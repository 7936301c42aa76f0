#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/guarded.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "event/unresolved_event.hpp"
#include "lexicon_store/added_checks.hpp"
#include "postgres/session.hpp"

namespace skua::writer {

/// Returns the violation of a record by an added lexicon of its collection, as for
/// `records::Decoded::invalid_reason`. Returns nothing if the record is valid, or its collection
/// has no added lexicon.
std::optional<std::string> added_violation(const lexicon_store::AddedChecks& checks,
                                           const event::RecordChange& change);

/// The added lexicons as a process applies them. The process notices a change within a second. Any
/// thread may use them.
class AddedLexicons {
 public:
  /// `monotonic` outlives the object.
  explicit AddedLexicons(const Clock& monotonic) : monotonic_(monotonic) {}

  /// Sets the `invalid_reason` of records without a typed table that violate an added lexicon. If
  /// there are no such records, it does not use the session. Call it outside of a transaction.
  /// Throws postgres::SqlError.
  void check(postgres::Session& session, std::span<event::ResolvedEvent* const> events);

 private:
  using Checks = std::shared_ptr<const lexicon_store::AddedChecks>;
  struct State {
    Checks checks;
    Timestamp looked_at;
  };

  /// Reads the version if the last read was a second ago, and the documents if the version changed.
  Checks current(postgres::Session& session);

  const Clock& monotonic_;
  Guarded<State> state_;
};

}  // namespace skua::writer
