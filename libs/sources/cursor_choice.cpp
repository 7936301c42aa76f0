#include "sources/cursor_choice.hpp"

namespace skua::sources {

using Kind = CursorChoice::Kind;

std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved) {
  switch (choice.kind) {
    case Kind::Saved:
      return saved;
    case Kind::Live:
      return std::nullopt;
    case Kind::Oldest:
      return 0;
    case Kind::At:
      return choice.seq;
    case Kind::Resume:
      return saved.value_or(choice.seq);
  }
  return saved;
}

CursorChoice resumed(CursorChoice choice, std::optional<std::int64_t> began) {
  if (began) return {Kind::Resume, *began};
  if (choice.kind == Kind::Oldest) return {Kind::Resume, 0};
  if (choice.kind == Kind::At) choice.kind = Kind::Resume;
  return choice;
}

}  // namespace skua::sources
