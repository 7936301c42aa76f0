#include "event/json_transcoder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include "atproto/base64.hpp"
#include "atproto/cid.hpp"
#include "event/json_scan.hpp"
#include "event/json_string.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::event {
namespace {

using repo::CborWriter;

constexpr int kMaxDepth = 128;

bool is_digit(const char* at, const char* end) {
  return at != end && *at >= '0' && *at <= '9';
}

/// The end of the digits that start at `at`; null if there are none.
const char* end_of_digits(const char* at, const char* end) {
  if (!is_digit(at, end)) return nullptr;
  while (is_digit(at, end)) ++at;
  return at;
}

/// The text of a number in the grammar of JSON, which is stricter than `from_chars`.
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

/// A number with a point or an exponent becomes an integer if it has no fraction and fits: JSON has
/// one number type, DAG-CBOR has two.
void write_number(CborWriter out, double value) {
  constexpr double kLimit = 0x1p63;
  if (value >= -kLimit && value < kLimit && std::trunc(value) == value) {
    out.integer(static_cast<std::int64_t>(value));
  } else {
    out.floating(value);
  }
}

}  // namespace

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
