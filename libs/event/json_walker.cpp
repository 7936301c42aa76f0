#include "event/json_walker.hpp"

#include <charconv>
#include <cstddef>

#include "event/errc.hpp"
#include "event/json_scan.hpp"
#include "event/json_string.hpp"

namespace skua::event {
namespace {

/// The text between the quotes; nothing if this is not a string.
std::optional<std::string_view> content_of(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

bool ends_scalar(char c) {
  return c == ',' || c == '}' || c == ']' || is_json_blank(c);
}

}  // namespace

std::optional<std::string_view> JsonSlice::plain_string() const {
  const auto content = content_of(text_);
  if (!content) return std::nullopt;
  const char* const end = content->data() + content->size();
  if (end_of_plain_text(content->data(), end) != end) return std::nullopt;
  return content;
}

std::optional<std::string> JsonSlice::string() const {
  const auto content = content_of(text_);
  std::string text;
  if (!content || !append_unescaped(text, *content)) return std::nullopt;
  return text;
}

std::optional<std::int64_t> JsonSlice::integer() const {
  std::int64_t number = 0;
  const char* const end = text_.data() + text_.size();
  const auto [at, error] = std::from_chars(text_.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

std::optional<bool> JsonSlice::boolean() const {
  if (text_ == "true") return true;
  return text_ == "false" ? std::optional(false) : std::nullopt;
}

Result<void> JsonWalker::find(std::initializer_list<JsonField> fields) {
  if (const auto opened = open(); !opened) return opened.error();
  for (bool first = true;; first = false) {
    Entry entry;
    const Result<bool> more = next(first, entry);
    for (const JsonField& field : fields) {
      if (field.key == entry.key && field.value.text().empty()) field.value = entry.value;
    }
    if (!more) return more.error();
    if (!*more) return {};
  }
}

bool JsonWalker::at_end() {
  skip_blanks();
  return at_ == end_;
}

Result<void> JsonWalker::open() {
  skip_blanks();
  if (at_ == end_ || *at_ != '{') return errc::json_malformed;
  ++at_;
  return {};
}

Result<bool> JsonWalker::next(bool first, Entry& out) {
  skip_blanks();
  if (at_ == end_) return errc::json_malformed;
  if (*at_ == '}') {
    ++at_;
    return false;
  }
  if (!first) {
    if (*at_ != ',') return errc::json_malformed;
    ++at_;
    skip_blanks();
  }
  const char* const key = at_;
  if (!skip_string()) return errc::json_malformed;
  out.key = std::string_view(key + 1, static_cast<std::size_t>(at_ - key) - 2);
  skip_blanks();
  if (at_ == end_ || *at_ != ':') return errc::json_malformed;
  ++at_;
  skip_blanks();
  const char* const value = at_;
  if (!skip_value()) {
    const std::string_view rest(value, static_cast<std::size_t>(end_ - value));
    if (rest.starts_with('{')) out.value = JsonSlice(rest);
    return errc::json_malformed;
  }
  out.value = JsonSlice(std::string_view(value, static_cast<std::size_t>(at_ - value)));
  return true;
}

void JsonWalker::skip_blanks() {
  while (at_ != end_ && is_json_blank(*at_)) ++at_;
}

bool JsonWalker::skip_string() {
  if (at_ == end_ || *at_ != '"') return false;
  ++at_;
  while (true) {
    at_ = end_of_plain_text(at_, end_);
    if (at_ == end_) return false;
    if (*at_ == '"') {
      ++at_;
      return true;
    }
    // Skips the escaped character too. The parser of the string finds control characters.
    const std::ptrdiff_t size = *at_ == '\\' ? 2 : 1;
    if (end_ - at_ <= size) return false;
    at_ += size;
  }
}

bool JsonWalker::skip_value() {
  std::size_t open = 0;
  do {
    if (at_ == end_) return false;
    switch (*at_) {
      case '"':
        if (!skip_string()) return false;
        break;
      case '{':
      case '[':
        ++open;
        ++at_;
        break;
      case '}':
      case ']':
        if (open == 0) return false;
        --open;
        ++at_;
        break;
      default:
        if (open == 0) {
          const char* const scalar = at_;
          while (at_ != end_ && !ends_scalar(*at_)) ++at_;
          return at_ != scalar;
        }
        ++at_;
    }
  } while (open != 0);
  return true;
}

}  // namespace skua::event
