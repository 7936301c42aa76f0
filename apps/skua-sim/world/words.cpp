#include "words.hpp"

#include <array>

namespace skua::sim {
namespace {

constexpr std::array<std::string_view, 40> kLatin = {
    "ba", "bre", "da",  "dro", "el", "en",  "fa", "fi",  "ga", "glo", "ha", "il", "ka", "ke",
    "ki", "ko",  "la",  "le",  "lu", "ma",  "me", "mi",  "na", "no",  "o",  "os", "pa", "pri",
    "ra", "ri",  "ron", "sa",  "se", "sto", "ta", "tel", "un", "va",  "we", "yin"};
// The last three use combining marks, while most fonts have one character for each.
constexpr std::array<std::string_view, 16> kAccented = {
    "bé", "çao", "dœ", "für", "gâ", "jõ",       "kø",         "lär",
    "ñu", "ße",  "të", "vûl", "zà", "e\u0301n", "u\u0308ber", "a\u0323\u0302m"};
constexpr std::array<std::string_view, 24> kJapanese = {
    "あ", "いる", "うみ", "えき", "かぜ", "き",   "くも", "こえ", "さら", "しま", "そら", "たに",
    "つ", "とき", "な",   "ねこ", "の",   "はな", "ひ",   "まち", "森",   "水",   "空",   "カメ"};
constexpr std::array<std::string_view, 16> kArabic = {
    "با", "تم", "جن", "حل", "دا", "را", "زي", "سل", "شم", "عن", "في", "قد", "كم", "لا", "مي", "نو"};
// With a skin tone, a family that combines several characters, a flag, a heart with a variation
// selector.
constexpr std::array<std::string_view, 8> kEmoji = {
    "🌊", "🦭", "✨", "👍🏽", "👩‍👩‍👧", "🇪🇺", "❤️", "😂"};

template <class Syllables>
std::string joined(Random& random, const Syllables& syllables, std::size_t least,
                   std::size_t most) {
  std::string word;
  for (std::size_t left = random.between(least, most); left > 0; --left) {
    word += random.pick(syllables);
  }
  return word;
}

}  // namespace

std::string_view language_of(Script script) {
  switch (script) {
    case Script::latin:
      return "en";
    case Script::accented:
      return "pt-BR";
    case Script::japanese:
      return "ja";
    case Script::arabic:
      return "ar";
  }
  return {};
}

Script random_script(Random& random) {
  constexpr std::array kShares = {0.64, 0.16, 0.15, 0.05};
  return static_cast<Script>(random.weighted(kShares));
}

std::string random_word(Random& random, Script script) {
  switch (script) {
    case Script::latin:
      return joined(random, kLatin, 1, 4);
    case Script::accented:
      return random.chance(0.4) ? joined(random, kAccented, 1, 2) : joined(random, kLatin, 1, 3);
    case Script::japanese:
      return joined(random, kJapanese, 1, 5);
    case Script::arabic:
      return joined(random, kArabic, 1, 3);
  }
  return {};
}

std::string random_text(Random& random, Script script, std::size_t bytes) {
  const std::string_view space = script == Script::japanese ? "" : " ";
  const std::string_view stop = script == Script::japanese ? "。" : ". ";
  std::string text;
  while (text.size() < bytes) {
    text += random_word(random, script);
    const std::size_t after = random.below(24);
    if (after == 0) {
      text += stop;
    } else if (after == 1) {
      text += space;
      text += random.pick(kEmoji);
      text += space;
    } else if (after == 2) {
      text += '\n';
    } else {
      text += space;
    }
  }
  while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
  return text;
}

std::string random_name(Random& random) {
  std::string name = joined(random, kLatin, 2, 3);
  name += '-';
  name += joined(random, kLatin, 1, 3);
  name += std::to_string(random.below(100));
  return name;
}

}  // namespace skua::sim
