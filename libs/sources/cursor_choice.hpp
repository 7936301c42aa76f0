#pragma once

#include <cstdint>
#include <optional>

namespace skua::sources {

/// Where a run begins to read a source.
struct CursorChoice {
  enum class Kind : std::uint8_t {
    Saved,   // the saved cursor; live when there is none
    Live,    // new events only
    Oldest,  // the oldest event that the source keeps
    At,      // after `seq`
    Resume,  // the saved cursor; after `seq` when there is none
  };
  Kind kind = Kind::Saved;
  std::int64_t seq = 0;
};

/// The position that the first connection asks for; nothing: live. `saved`: the cursor in the
/// database, or else the source's own default.
std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved);

/// The choice for a run that continues another one, after the database has become an older one: the
/// saved cursor, or without one the position after which the other run began. `began`: nothing when
/// the other run read nothing.
CursorChoice resumed(CursorChoice choice, std::optional<std::int64_t> began);

}  // namespace skua::sources
