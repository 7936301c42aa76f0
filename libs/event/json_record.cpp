#include "event/json_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "event/errc.hpp"
#include "repo/dag_cbor_writer.hpp"

namespace skua::event {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 128;

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<Bytes> parse_base64(std::string_view text) {
  if (text.ends_with("==")) {
    text.remove_suffix(2);
  } else if (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> held));
  }
  return bytes;
}

class Encoder {
 public:
  explicit Encoder(Bytes& out) : out_(out) {}

  Result<void> value(const json& value, int depth) {
    if (depth > kMaxDepth) return errc::json_too_deep;
    switch (value.type()) {
      case json::value_t::null:
      case json::value_t::discarded:
        out_.null();
        return {};
      case json::value_t::boolean:
        out_.boolean(value.get<bool>());
        return {};
      case json::value_t::number_integer:
        out_.integer(value.get<std::int64_t>());
        return {};
      case json::value_t::number_unsigned: {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          return errc::json_integer_range;
        }
        out_.integer(static_cast<std::int64_t>(number));
        return {};
      }
      case json::value_t::number_float:
        number(value.get<double>());
        return {};
      case json::value_t::string:
        out_.string(value.get_ref<const std::string&>());
        return {};
      case json::value_t::binary:
        out_.bytes(value.get_binary());
        return {};
      case json::value_t::array:
        out_.list(value.size());
        for (const json& item : value) {
          if (const auto written = this->value(item, depth + 1); !written) return written.error();
        }
        return {};
      case json::value_t::object:
        return object(value, depth);
    }
    return {};
  }

 private:
  /// A number that JSON writes with a point or an exponent is an integer all the same when it has
  /// no fraction (and fits): JSON has one kind of number, DAG-CBOR two.
  void number(double value) {
    constexpr double kLimit = 0x1p63;
    if (value >= -kLimit && value < kLimit && std::trunc(value) == value) {
      out_.integer(static_cast<std::int64_t>(value));
    } else {
      out_.floating(value);
    }
  }

  Result<void> object(const json& object, int depth) {
    if (const auto link = object.find("$link"); link != object.end()) {
      return this->link(object, *link);
    }
    if (const auto bytes = object.find("$bytes"); bytes != object.end()) {
      return this->bytes(object, *bytes);
    }
    std::vector<json::const_iterator> entries;
    entries.reserve(object.size());
    for (auto entry = object.begin(); entry != object.end(); ++entry) entries.push_back(entry);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return repo::cbor_key_less(a.key(), b.key()); });
    out_.map(entries.size());
    for (const auto& entry : entries) {
      out_.string(entry.key());
      if (const auto written = value(*entry, depth + 1); !written) return written.error();
    }
    return {};
  }

  Result<void> link(const json& object, const json& link) {
    if (object.size() != 1 || !link.is_string()) return errc::json_bad_link;
    const auto cid = atproto::Cid::parse(link.get_ref<const std::string&>());
    if (!cid) return errc::json_bad_link;
    out_.link(*cid);
    return {};
  }

  Result<void> bytes(const json& object, const json& bytes) {
    if (object.size() != 1 || !bytes.is_string()) return errc::json_bad_bytes;
    const auto parsed = parse_base64(bytes.get_ref<const std::string&>());
    if (!parsed) return errc::json_bad_bytes;
    out_.bytes(*parsed);
    return {};
  }

  repo::CborWriter out_;
};

}  // namespace

Result<Bytes> json_to_dag_cbor(const nlohmann::json& record) {
  Bytes out;
  if (const auto written = Encoder(out).value(record, 0); !written) return written.error();
  return out;
}

}  // namespace skua::event
