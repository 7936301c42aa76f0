#include "lexicon/graphemes.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

namespace skua::lexicon {
namespace {

void require_success(UErrorCode status, const char* what) {
  if (U_FAILURE(status)) throw std::runtime_error(std::string(what) + ": " + u_errorName(status));
}

/// The iterator of ICU over grapheme clusters. One for each thread, because opening one is slow.
class Clusters {
 public:
  Clusters() {
    UErrorCode status = U_ZERO_ERROR;
    iterator_.reset(ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status));
    require_success(status, "ICU cannot open its iterator over characters");
  }

  bool exceed(std::string_view text, std::size_t limit) {
    UErrorCode status = U_ZERO_ERROR;
    UText input = UTEXT_INITIALIZER;
    utext_openUTF8(&input, text.data(), static_cast<std::int64_t>(text.size()), &status);
    require_success(status, "ICU cannot read a text");
    ubrk_setUText(iterator_.get(), &input, &status);
    std::size_t count = 0;
    while (count <= limit && ubrk_next(iterator_.get()) != UBRK_DONE) ++count;
    utext_close(&input);
    require_success(status, "ICU cannot iterate over a text");
    return count > limit;
  }

 private:
  struct Close {
    void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
  };
  std::unique_ptr<UBreakIterator, Close> iterator_;
};

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// CR and LF together are one cluster, the only one of ASCII with two characters.
std::size_t line_ends_of_two(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("\r\n"); at != std::string_view::npos;
       at = text.find("\r\n", at + 2)) {
    ++count;
  }
  return count;
}

}  // namespace

bool has_more_graphemes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return false;
  const std::size_t points = code_points(text);
  if (points <= limit) return false;
  if (points == text.size()) return points - line_ends_of_two(text) > limit;
  thread_local Clusters clusters;
  return clusters.exceed(text, limit);
}

}  // namespace skua::lexicon
