#include "store/dead_letters.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "store/dead_letters.sql.hpp"

namespace skua::store {
namespace {

DeadLetterCounters letter_counters;

/// The letter's error; it also mentions if the payload was cut.
std::string error_of(const DeadLetter& letter, std::size_t payload_bytes) {
  std::string error = escaped(letter.error);
  if (letter.payload.size() > payload_bytes) {
    error += fmt::format(" (the payload had {} bytes; the first {} are kept)",
                         letter.payload.size(), payload_bytes);
  }
  return error;
}

std::optional<std::string> none_if_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

struct WrittenLetters {
  std::int64_t written;
  std::int64_t fitting;
};

/// The first answer: the letters that changed; the second: all that are within the limits.
WrittenLetters write_letters(Session& session, const std::vector<const DeadLetter*>& letters,
                             Timestamp now, const DeadLetterLimits& limits) {
  const auto text = [&](auto member) {
    return column(letters, [member](const DeadLetter* letter) { return escaped(letter->*member); });
  };
  const auto optional_text = [&](auto member) {
    return column(letters, [member](const DeadLetter* letter) {
      return none_if_empty(escaped(letter->*member));
    });
  };
  const auto payload = [&](const DeadLetter* letter) -> std::optional<ByteView> {
    if (letter->payload.empty()) return std::nullopt;
    return ByteView(letter->payload).first(std::min(letter->payload.size(), limits.payload_bytes));
  };
  const auto payload_size = [](const DeadLetter* letter) -> std::optional<std::int32_t> {
    if (letter->payload.empty()) return std::nullopt;
    return static_cast<std::int32_t>(letter->payload.size());
  };
  const auto rev = [](const DeadLetter* letter) {
    return letter->rev == 0 ? std::nullopt : std::optional(letter->rev);
  };
  return session.query_one<WrittenLetters>(
      sql::dead_letters_write, text(&DeadLetter::consumer), text(&DeadLetter::key),
      text(&DeadLetter::did), column(letters, payload),
      column(letters, [&](const DeadLetter* one) { return error_of(*one, limits.payload_bytes); }),
      optional_text(&DeadLetter::sqlstate), column(letters, payload_size),
      optional_text(&DeadLetter::source), optional_text(&DeadLetter::path),
      optional_text(&DeadLetter::operation), column(letters, rev),
      column(letters, &DeadLetter::cid), now, limits.per_account, limits.table_bytes,
      limits.account_bytes);
}

}  // namespace

std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits) {
  // Sorted by the conflict key, and one letter for each key: a statement may not update a row
  // twice.
  std::map<std::pair<std::string, std::string>, const DeadLetter*> by_key;
  for (const DeadLetter& letter : letters) {
    by_key[{escaped(letter.consumer), escaped(letter.key)}] = &letter;
  }
  if (by_key.empty()) return 0;
  std::vector<const DeadLetter*> sorted;
  sorted.reserve(by_key.size());
  for (const auto& [key, letter] : by_key) sorted.push_back(letter);
  const auto [written, fitting] = write_letters(session, sorted, now, limits);
  const DeadLetter& example = *sorted.back();
  count_letters_left_out(by_key.size() - static_cast<std::size_t>(fitting),
                         example.key + ": " + example.error);
  return static_cast<std::size_t>(written);
}

void count_letters_left_out(std::size_t count, const std::string& example) {
  if (count == 0) return;
  letter_counters.left_out += count;
  logger("store")->warn(
      "skua.dead_letter is full, for an account or in all (docs/problems.md): {} not stored, for "
      "example {}",
      counted(static_cast<std::int64_t>(count), "dead letter"), example);
}

const DeadLetterCounters& dead_letter_counters() {
  return letter_counters;
}

}  // namespace skua::store
