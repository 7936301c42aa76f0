#pragma once

#include <cstdint>

#include "consumers/letter_event.hpp"
#include "postgres/session.hpp"

namespace skua::streams {

/// Reads the event of the change at a position, for the dead letter of a consumer. The record is
/// the present one, as in every event. Throws postgres::SqlError.
consumers::LetterEvent read_letter_event(postgres::Session& session, std::int64_t pos);

}  // namespace skua::streams
