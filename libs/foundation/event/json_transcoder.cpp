#include "event/json_transcoder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "atproto/base64.hpp"
#include "atproto/cid.hpp"
#include "event/errc.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {

namespace {

std::optional<char> short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Consumes the four digits of a `\u` escape at the front.
std::optional<std::uint32_t> take_unit(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : rest.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  rest.remove_prefix(4);
  return unit;
}

/// Consumes the digits after `\u`: one unit, or a pair of surrogates.
std::optional<std::uint32_t> take_code_point(std::string_view& rest) {
  const auto high = take_unit(rest);
  if (!high || *high < 0xd800 || *high > 0xdfff) return high;
  if (*high > 0xdbff || !rest.starts_with("\\u")) return std::nullopt;
  rest.remove_prefix(2);
  const auto low = take_unit(rest);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto push = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xe0 | code >> 12);
    } else {
      push(0xf0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3f));
    }
    push(0x80 | (code >> 6 & 0x3f));
  }
  push(0x80 | (code & 0x3f));
}

/// Returns the text between the quotes, or nothing if `text` is not a string.
std::optional<std::string_view> content_of(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

bool ends_scalar(char c) {
  return c == ',' || c == '}' || c == ']' || is_json_blank(c);
}

using repo::CborWriter;

constexpr int kMaxDepth = 128;

bool is_digit(const char* at, const char* end) {
  return at != end && *at >= '0' && *at <= '9';
}

/// Returns the end of the digits that start at `at`, or null if there are none.
const char* end_of_digits(const char* at, const char* end) {
  if (!is_digit(at, end)) return nullptr;
  while (is_digit(at, end)) ++at;
  return at;
}

/// The text of a number in JSON's grammar, which is stricter than the grammar of `from_chars`.
struct Number {
  const char* end = nullptr;  // null: not a number
  bool is_integer = true;
};

Number find_number(const char* at, const char* end) {
  Number number;
  if (at != end && *at == '-') ++at;
  const bool zero = at != end && *at == '0';
  at = zero ? at + 1 : end_of_digits(at, end);
  if (at != nullptr && at != end && *at == '.') {
    number.is_integer = false;
    at = end_of_digits(at + 1, end);
  }
  if (at != nullptr && at != end && (*at == 'e' || *at == 'E')) {
    number.is_integer = false;
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    at = end_of_digits(at, end);
  }
  number.end = at;
  return number;
}

/// Writes a number that has a point or an exponent. The number becomes an integer if it has no
/// fraction and fits, because JSON has one number type and DAG-CBOR has two.
void write_number(CborWriter out, double value) {
  constexpr double kLimit = 0x1p63;
  if (value >= -kLimit && value < kLimit && std::trunc(value) == value) {
    out.integer(static_cast<std::int64_t>(value));
  } else {
    out.floating(value);
  }
}

}  // namespace

bool append_unescaped(std::string& out, std::string_view content) {
  while (true) {
    const char* const begin = content.data();
    const char* const special = end_of_plain_text(begin, begin + content.size());
    const auto plain = static_cast<std::size_t>(special - begin);
    out.append(content, 0, plain);
    content.remove_prefix(plain);
    if (content.empty()) return true;
    if (content.size() < 2 || content[0] != '\\') return false;
    const char kind = content[1];
    content.remove_prefix(2);
    if (kind == 'u') {
      const auto code = take_code_point(content);
      if (!code) return false;
      append_utf8(out, *code);
    } else {
      const auto c = short_escape(kind);
      if (!c) return false;
      out.push_back(*c);
    }
  }
}

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
    // The entry counts even after an error, because `next` also fills the entry of a nested object
    // that has no end.
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
    // Skips an escaped character together with its backslash. The parser of the string refuses
    // control characters.
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

Result<void> JsonTranscoder::append(std::string_view json, Bytes& out) {
  at_ = json.data();
  end_ = at_ + json.size();
  out_ = &out;
  entries_.clear();
  if (const errc e = value(0); e != errc{}) return e;
  skip_blanks();
  if (at_ != end_) return errc::json_malformed;
  return {};
}

errc JsonTranscoder::value(int depth) {
  skip_blanks();
  if (at_ == end_) return errc::json_malformed;
  switch (*at_) {
    case '{':
      return depth < kMaxDepth ? object(depth) : errc::json_too_deep;
    case '[':
      return depth < kMaxDepth ? list(depth) : errc::json_too_deep;
    case '"': {
      std::string_view text;
      if (const errc e = string(text); e != errc{}) return e;
      CborWriter(*out_).string(text);
      return errc{};
    }
    case 't':
    case 'f':
    case 'n':
      return literal();
    default:
      return number();
  }
}

errc JsonTranscoder::object(int depth) {
  ++at_;
  const std::size_t begin = out_->size();
  const std::size_t first = entries_.size();
  out_->push_back(0);
  bool in_order = true;
  for (bool more = !take('}'); more; more = !take('}')) {
    if (entries_.size() != first && !take(',')) return errc::json_malformed;
    skip_blanks();
    std::string_view key;
    if (const errc e = string(key); e != errc{}) return e;
    if (!take(':')) return errc::json_malformed;
    if (key == "$link") return entries_.size() == first ? link(begin) : errc::json_bad_link;
    if (key == "$bytes") return entries_.size() == first ? bytes(begin) : errc::json_bad_bytes;
    in_order =
        in_order && (entries_.size() == first || repo::cbor_key_less(key_of(entries_.back()), key));
    Entry entry{out_->size(), 0, key.size(), 0};
    CborWriter(*out_).string(key);
    entry.key = out_->size() - key.size();
    entries_.push_back(entry);
    const std::size_t index = entries_.size() - 1;
    if (const errc e = value(depth + 1); e != errc{}) return e;
    entries_[index].end = out_->size();
  }
  if (!in_order) {
    if (const errc e = sort(first); e != errc{}) return e;
  }
  write_head(begin, entries_.size() - first, true);
  entries_.resize(first);
  return errc{};
}

errc JsonTranscoder::list(int depth) {
  ++at_;
  const std::size_t begin = out_->size();
  out_->push_back(0);
  std::size_t items = 0;
  for (; !take(']'); ++items) {
    if (items != 0 && !take(',')) return errc::json_malformed;
    if (const errc e = value(depth + 1); e != errc{}) return e;
  }
  write_head(begin, items, false);
  return errc{};
}

errc JsonTranscoder::number() {
  const Number found = find_number(at_, end_);
  if (found.end == nullptr) return errc::json_malformed;
  const char* const text = at_;
  at_ = found.end;
  if (found.is_integer) {
    std::int64_t value = 0;
    if (std::from_chars(text, at_, value).ec != std::errc{}) return errc::json_integer_range;
    CborWriter(*out_).integer(value);
    return errc{};
  }
  double value = 0;
  if (std::from_chars(text, at_, value).ec != std::errc{}) return errc::json_integer_range;
  write_number(CborWriter(*out_), value);
  return errc{};
}

errc JsonTranscoder::literal() {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  CborWriter writer(*out_);
  if (rest.starts_with("true")) {
    writer.boolean(true);
    at_ += 4;
  } else if (rest.starts_with("false")) {
    writer.boolean(false);
    at_ += 5;
  } else if (rest.starts_with("null")) {
    writer.null();
    at_ += 4;
  } else {
    return errc::json_malformed;
  }
  return errc{};
}

errc JsonTranscoder::link(std::size_t begin) {
  std::string_view text;
  if (!only_string(text)) return errc::json_bad_link;
  const auto cid = atproto::Cid::parse(text);
  if (!cid) return errc::json_bad_link;
  out_->resize(begin);
  CborWriter(*out_).link(*cid);
  return errc{};
}

errc JsonTranscoder::bytes(std::size_t begin) {
  std::string_view text;
  if (!only_string(text)) return errc::json_bad_bytes;
  const auto parsed = atproto::parse_base64(text);
  if (!parsed) return errc::json_bad_bytes;
  out_->resize(begin);
  CborWriter(*out_).bytes(*parsed);
  return errc{};
}

bool JsonTranscoder::only_string(std::string_view& out) {
  skip_blanks();
  return string(out) == errc{} && take('}');
}

errc JsonTranscoder::string(std::string_view& out) {
  if (at_ == end_ || *at_ != '"') return errc::json_malformed;
  const char* const begin = ++at_;
  at_ = end_of_plain_text(at_, end_);
  bool is_plain = true;
  while (at_ != end_ && *at_ == '\\') {
    if (end_ - at_ < 2) return errc::json_malformed;
    is_plain = false;
    at_ = end_of_plain_text(at_ + 2, end_);
  }
  if (at_ == end_ || *at_ != '"') return errc::json_malformed;
  out = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  ++at_;
  if (is_plain) return errc{};
  unescaped_.clear();
  if (!append_unescaped(unescaped_, out)) return errc::json_malformed;
  out = unescaped_;
  return errc{};
}

errc JsonTranscoder::sort(std::size_t first) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  const std::size_t from = begin->begin;
  std::sort(begin, entries_.end(), [this](const Entry& a, const Entry& b) {
    return repo::cbor_key_less(key_of(a), key_of(b));
  });
  const auto twice =
      std::adjacent_find(begin, entries_.end(),
                         [this](const Entry& a, const Entry& b) { return key_of(a) == key_of(b); });
  if (twice != entries_.end()) return errc::json_duplicate_key;
  sorted_.clear();
  for (auto entry = begin; entry != entries_.end(); ++entry) {
    const auto at = out_->begin();
    sorted_.insert(sorted_.end(), at + static_cast<std::ptrdiff_t>(entry->begin),
                   at + static_cast<std::ptrdiff_t>(entry->end));
  }
  std::copy(sorted_.begin(), sorted_.end(), out_->begin() + static_cast<std::ptrdiff_t>(from));
  return errc{};
}

void JsonTranscoder::write_head(std::size_t begin, std::size_t size, bool is_map) {
  head_.clear();
  CborWriter writer(head_);
  if (is_map) {
    writer.map(size);
  } else {
    writer.list(size);
  }
  (*out_)[begin] = head_.front();
  out_->insert(out_->begin() + static_cast<std::ptrdiff_t>(begin) + 1, head_.begin() + 1,
               head_.end());
}

std::string_view JsonTranscoder::key_of(const Entry& entry) const {
  return as_text(ByteView(*out_).subspan(entry.key, entry.key_size));
}

void JsonTranscoder::skip_blanks() {
  while (at_ != end_ && is_json_blank(*at_)) ++at_;
}

bool JsonTranscoder::take(char c) {
  skip_blanks();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

}  // namespace skua::event
