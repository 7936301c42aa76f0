#include "resolve/record_keys.hpp"

#include "resolve/record_keys.sql.hpp"

namespace skua::resolve {
namespace {

using store::column;
using store::RecordKey;

using Texts = std::map<store::RecordKey, KeyText>;

struct StoredText {
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
  std::string text;
};

/// A column of the keys.
store::Array key_column(const Texts& texts, auto member) {
  return column(texts, [=](const auto& entry) { return entry.first.*member; });
}

/// Takes those that are stored out of `texts`, into `conflicts` if they differ.
void compare(store::Session& session, Texts& texts, KeyConflicts& conflicts) {
  if (texts.empty()) return;
  for (const auto& [actor_id, collection_id, rkey, stored] : session.query<StoredText>(
           sql::rkeys_find, key_column(texts, &RecordKey::actor_id),
           key_column(texts, &RecordKey::collection_id), key_column(texts, &RecordKey::rkey))) {
    const auto place = texts.find({actor_id, collection_id, rkey});
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
    const store::Rows inserted = session.execute(
        sql::rkeys_insert, key_column(absent, &RecordKey::actor_id),
        key_column(absent, &RecordKey::collection_id), key_column(absent, &RecordKey::rkey),
        column(absent, [](const auto& entry) { return entry.second.text; }));
    // Another session has inserted the others meanwhile.
    if (inserted.affected() < absent.size()) {
      compare(session, absent, conflicts);
    }
  }
  return conflicts;
}

}  // namespace skua::resolve
