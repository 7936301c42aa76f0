#include "store/dead_letters.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"

namespace skua::store {
namespace {

const Statement kWrite{
    "dead_letters_write",
    "INSERT INTO skua.dead_letter AS t "
    "(consumer, key, payload, error, sqlstate, created_at, last_at) "
    "SELECT l.consumer, l.key, l.payload, l.error, l.sqlstate, $6::timestamptz, $6::timestamptz "
    "FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[]) "
    "AS l(consumer, key, payload, error, sqlstate) "
    "ON CONFLICT (consumer, key) DO UPDATE SET attempts = t.attempts + 1, "
    "payload = EXCLUDED.payload, error = EXCLUDED.error, sqlstate = EXCLUDED.sqlstate, "
    "last_at = EXCLUDED.last_at "
    "WHERE (t.payload, t.error, t.sqlstate) IS DISTINCT FROM "
    "(EXCLUDED.payload, EXCLUDED.error, EXCLUDED.sqlstate)"};

/// The text with U+FFFD for each byte that is no UTF-8.
std::string readable(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view character = text.substr(0, length);
    if (character.size() == length && is_utf8(character)) {
      out += character;
      text.remove_prefix(length);
    } else {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now) {
  // Sorted by the conflict key, and one letter a key: a statement may not touch a row twice.
  std::map<std::pair<std::string, std::string>, const DeadLetter*> by_key;
  for (const DeadLetter& letter : letters) {
    by_key[{readable(letter.consumer), readable(letter.key)}] = &letter;
  }
  if (by_key.empty()) return 0;
  Array consumers(Array::Type::text);
  Array keys(Array::Type::text);
  Array payloads(Array::Type::bytea);
  Array errors(Array::Type::text);
  Array sqlstates(Array::Type::text);
  for (const auto& [key, letter] : by_key) {
    consumers.text(key.first);
    keys.text(key.second);
    if (letter->payload.empty()) {
      payloads.null();
    } else {
      payloads.bytea(letter->payload);
    }
    errors.text(readable(letter->error));
    if (letter->sqlstate.empty()) {
      sqlstates.null();
    } else {
      sqlstates.text(letter->sqlstate);
    }
  }
  Params params;
  params.array(consumers).array(keys).array(payloads).array(errors).array(sqlstates);
  params.timestamp(now);
  return session.execute(kWrite, params).affected();
}

}  // namespace skua::store
