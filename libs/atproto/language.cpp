#include "atproto/language.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace skua::atproto {
namespace {

/// Tags that were registered before RFC 4646 and do not follow its grammar.
constexpr std::array<std::string_view, 17> kIrregular = {
    "en-GB-oed", "i-ami", "i-bnn",     "i-default", "i-enochian", "i-hak",
    "i-klingon", "i-lux", "i-mingo",   "i-navajo",  "i-pwn",      "i-tao",
    "i-tay",     "i-tsu", "sgn-BE-FR", "sgn-BE-NL", "sgn-CH-DE"};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alpha(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_alpha(c) || is_decimal(c);
}

/// Takes a tag apart from front to back. `subtag_` is the present subtag, empty at the end and
/// where two hyphens stand together.
class TagScanner {
 public:
  explicit TagScanner(std::string_view text) : rest_(text) { next(); }

  bool is_tag() {
    if (is_private_use()) return private_use();
    return language() && script_and_region() && variants_and_extensions() &&
           (!is_private_use() || private_use()) && at_end_;
  }

 private:
  void next() {
    if (rest_.data() == nullptr) {
      at_end_ = true;
      subtag_ = {};
      return;
    }
    const std::size_t hyphen = rest_.find('-');
    subtag_ = rest_.substr(0, hyphen);
    rest_ = hyphen == std::string_view::npos ? std::string_view{} : rest_.substr(hyphen + 1);
  }

  template <class P>
  bool is(std::size_t shortest, std::size_t longest, P of_class) const {
    return subtag_.size() >= shortest && subtag_.size() <= longest &&
           std::all_of(subtag_.begin(), subtag_.end(), of_class);
  }

  /// Takes the present subtag if it has this form.
  template <class P>
  bool take(std::size_t shortest, std::size_t longest, P of_class) {
    if (!is(shortest, longest, of_class)) return false;
    next();
    return true;
  }

  bool language() {
    if (take(5, 8, is_lower)) return true;
    if (!take(2, 3, is_lower)) return false;
    for (int extended = 0; extended < 3 && take(3, 3, is_alpha); ++extended) {
    }
    return true;
  }

  bool script_and_region() {
    take(4, 4, is_alpha);
    if (!take(2, 2, is_alpha)) take(3, 3, is_decimal);
    return true;
  }

  bool variants_and_extensions() {
    while (take(5, 8, is_alphanumeric) ||
           (!subtag_.empty() && is_decimal(subtag_[0]) && take(4, 4, is_alphanumeric))) {
    }
    while (!is_private_use() && take(1, 1, is_alphanumeric)) {
      if (!take(2, 8, is_alphanumeric)) return false;
      while (take(2, 8, is_alphanumeric)) {
      }
    }
    return true;
  }

  bool is_private_use() const { return subtag_ == "x" || subtag_ == "X"; }

  bool private_use() {
    next();
    if (!take(1, 8, is_alphanumeric)) return false;
    while (take(1, 8, is_alphanumeric)) {
    }
    return at_end_;
  }

  std::string_view rest_;
  std::string_view subtag_;
  bool at_end_ = false;
};

}  // namespace

bool is_language_tag(std::string_view text) {
  if (text.empty()) return false;
  return TagScanner(text).is_tag() ||
         std::find(kIrregular.begin(), kIrregular.end(), text) != kIrregular.end();
}

}  // namespace skua::atproto
