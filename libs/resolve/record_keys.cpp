#include "resolve/record_keys.hpp"

#include "resolve/record_keys.sql.hpp"
namespace skua::resolve {
namespace {

using store::Array;

using Texts = std::map<store::RecordKey, KeyText>;

struct Columns {
  Array actors{Array::Type::int8};
  Array collections{Array::Type::int4};
  Array rkeys{Array::Type::int8};
  Array texts{Array::Type::text};

  explicit Columns(const Texts& rows) {
    for (const auto& [key, text] : rows) {
      actors.int8(key.actor_id);
      collections.int4(key.collection_id);
      rkeys.int8(key.rkey);
      texts.text(text.text);
    }
  }
};

/// Takes those that are stored out of `texts`, into `conflicts` if they differ.
void compare(store::Session& session, Texts& texts, KeyConflicts& conflicts) {
  if (texts.empty()) return;
  const Columns columns(texts);
  store::Params params;
  params.array(columns.actors).array(columns.collections).array(columns.rkeys);
  const store::Rows rows = session.execute(sql::rkeys_find, params);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto place = texts.find({rows.int8(i, 0), rows.int4(i, 1), rows.int8(i, 2)});
    const std::string_view stored = rows.text(i, 3);
    if (stored != place->second.text) conflicts.emplace(place->first, stored);
    texts.erase(place);
  }
}

}  // namespace

KeyConflicts store_key_texts(store::Session& session, const Texts& texts) {
  KeyConflicts conflicts;
  Texts absent = texts;
  compare(session, absent, conflicts);
  std::erase_if(absent, [](const auto& entry) { return !entry.second.insert; });
  if (!absent.empty()) {
    const Columns columns(absent);
    store::Params params;
    params.array(columns.actors).array(columns.collections).array(columns.rkeys);
    params.array(columns.texts);
    // When all went in there was no race, and nothing to compare with.
    if (session.execute(sql::rkeys_insert, params).affected() < absent.size()) {
      compare(session, absent, conflicts);
    }
  }
  return conflicts;
}

}  // namespace skua::resolve
