#include "records/json_text.hpp"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "atproto/base64.hpp"

namespace skua::records {
namespace {

/// The form of each byte: 0 means unchanged, 'u' means a \u escape, and any other value is the
/// letter of a short escape.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) escapes[byte] = 'u';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  return escapes;
}();

void append_float(std::string& out, double value) {
  const std::size_t start = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  // A whole number keeps a mark that shows that it is a float.
  if (out.find_first_of(".en", start) == std::string::npos) out += ".0";
}

class JsonWriter {
 public:
  JsonWriter(std::string& out, Nul nul) : out_(out), nul_(nul) {}

  void value(const atproto::Value& value) {
    switch (value.kind()) {
      case atproto::Kind::null:
        out_ += "null";
        break;
      case atproto::Kind::boolean:
        out_ += value.boolean() ? "true" : "false";
        break;
      case atproto::Kind::integer: {
        const fmt::format_int digits(value.integer());
        out_.append(digits.data(), digits.size());
        break;
      }
      case atproto::Kind::floating:
        append_float(out_, value.floating());
        break;
      case atproto::Kind::string:
        string(value.string());
        break;
      case atproto::Kind::bytes:
        out_ += R"({"$bytes":")";
        atproto::append_base64(out_, value.bytes());
        out_ += "\"}";
        break;
      case atproto::Kind::link:
        out_ += R"({"$link":")";
        out_ += value.link().to_string();
        out_ += "\"}";
        break;
      case atproto::Kind::list:
        list(value);
        break;
      case atproto::Kind::map:
        map(value);
        break;
    }
  }

  void string(std::string_view text) {
    out_ += '"';
    std::size_t clean = 0;  // the start of the text that is not copied yet
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char escape = kEscapes[static_cast<unsigned char>(text[i])];
      if (escape == 0) continue;
      out_.append(text, clean, i - clean);
      clean = i + 1;
      if (text[i] == '\0' && nul_ == Nul::Drop) {
        ++dropped_;
      } else if (escape == 'u') {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(text[i]));
      } else {
        out_ += '\\';
        out_ += escape;
      }
    }
    out_.append(text, clean);
    out_ += '"';
  }

  std::size_t dropped() const { return dropped_; }

 private:
  void list(const atproto::Value& value) {
    char before = '[';
    for (const auto item : value.items()) {
      out_ += before;
      before = ',';
      this->value(item);
    }
    out_ += before == '[' ? "[]" : "]";
  }

  void map(const atproto::Value& value) {
    char before = '{';
    for (const auto entry : value.entries()) {
      out_ += before;
      before = ',';
      string(entry.key);
      out_ += ':';
      this->value(entry.value);
    }
    out_ += before == '{' ? "{}" : "}";
  }

  std::string& out_;
  Nul nul_;
  std::size_t dropped_ = 0;
};

}  // namespace

std::size_t append_json(std::string& out, const atproto::Value& value, Nul nul) {
  JsonWriter writer(out, nul);
  writer.value(value);
  return writer.dropped();
}

std::size_t append_json_string(std::string& out, std::string_view text, Nul nul) {
  JsonWriter writer(out, nul);
  writer.string(text);
  return writer.dropped();
}

}  // namespace skua::records
