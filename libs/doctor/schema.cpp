#include "doctor/schema.hpp"

#include "store/migrations.hpp"

namespace skua::doctor {

SchemaState read_schema_state(store::Session& session) {
  const store::Schema& schema = store::schema();
  try {
    const store::SchemaChanges changes = store::pending_changes(session, schema);
    if (changes.empty()) return {.text = schema.migrations.back().label()};
    return {.kind = SchemaState::Kind::Old, .text = changes.text()};
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
      return error("schema", problem("schema-old"), "the database " + state.text);
    case SchemaState::Kind::Newer:
      return error("schema", problem("schema-new"), state.text);
    case SchemaState::Kind::Other:
      break;
  }
  return error("schema", problem("schema-other"), state.text);
}

}  // namespace skua::doctor
