#pragma once

#include <string>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/dead_letters.hpp"
#include "store/session.hpp"
#include "writer/source_names.hpp"

namespace skua::writer {

/// The dead letter of an event that cannot become rows, for `skua.dead_letter`. `source` names
/// where it came from; the same input gets the same key again. `error`: the reason, for people.
/// `sqlstate`: the server's code if the server refused it, otherwise empty.
store::DeadLetter dead_letter_of(const std::string& source, const event::ResolvedEvent& event,
                                 const std::string& error, const std::string& sqlstate);

/// Puts one event that the server refused into `skua.dead_letter`, in a transaction of its own. If
/// it was rejected before, the letter gives that reason. Throws store::SqlError.
void write_dead_letter(store::Session& session, const SourceNames& sources,
                       const event::ResolvedEvent& event, const store::SqlError& error,
                       Timestamp now);

/// Makes a record change that must not become a row a Rejection with its bytes.
void reject(event::ResolvedEvent& event, const std::string& reason);

}  // namespace skua::writer
