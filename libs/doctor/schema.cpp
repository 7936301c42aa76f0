#include "doctor/schema.hpp"

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "store/migrations.hpp"

namespace skua::doctor {

SchemaState read_schema_state(store::Session& session) {
  const std::vector<store::Migration> known = store::migrations();
  try {
    const auto pending = store::pending_migrations(session, known);
    if (pending.empty()) return {.text = known.back().label()};
    return {.kind = SchemaState::Kind::Old,
            .pending = pending.size(),
            .first_pending = pending.front().label()};
  } catch (const store::NewerDatabase& difference) {
    return {.kind = SchemaState::Kind::Newer, .text = difference.what()};
  } catch (const store::MigrationError& difference) {
    return {.kind = SchemaState::Kind::Other, .text = difference.what()};
  }
}

Finding judge_schema(const SchemaState& state) {
  switch (state.kind) {
    case SchemaState::Kind::Current:
      return ok("schema", "current, up to migration " + state.text);
    case SchemaState::Kind::Old:
      return error("schema", problem("schema-old"),
                   fmt::format("the database lacks {}, from {} on",
                               counted(static_cast<std::int64_t>(state.pending), "migration"),

                               state.first_pending));
    case SchemaState::Kind::Newer:
      return error("schema", problem("schema-new"), state.text);
    case SchemaState::Kind::Other:
      break;
  }
  return error("schema", problem("schema-other"), state.text);
}

}  // namespace skua::doctor
