#include "serve/dns_message.hpp"

#include <cstddef>
#include <stdexcept>

#include "base/text.hpp"

namespace skua::sim {
namespace {

constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kAuthoritative = 0x0400;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr unsigned kOpcodeShift = 11;
constexpr unsigned kOpcodeMask = 15;
constexpr unsigned kCodeMask = 15;
constexpr unsigned kCodeBits = 4;

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestText = 255;
constexpr std::uint16_t kInternet = 1;
constexpr std::uint16_t kOpt = 41;
/// A pointer to the name directly after the header.
constexpr std::uint16_t kPointerToQuestion = 0xc000 | kHeaderSize;

/// Reads a message from the front. After the end all values are zero, and `good` is false.
class Reader {
 public:
  explicit Reader(ByteView left) : left_(left) {}

  bool good() const { return good_; }
  std::size_t left() const { return left_.size(); }

  ByteView take(std::size_t size) {
    if (size > left_.size()) {
      good_ = false;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  std::uint8_t byte() {
    const auto taken = take(1);
    return taken.empty() ? std::uint8_t{0} : taken.front();
  }
  std::uint16_t number() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>(high << 8 | byte());
  }

 private:
  ByteView left_;
  bool good_ = true;
};

/// Reads a name. Labels that are too long, pointers and unassigned label types all have an invalid
/// length byte.
std::optional<std::string> read_name(Reader& in) {
  std::string name;
  std::size_t size = 1;
  while (const std::size_t length = in.byte()) {
    size += 1 + length;
    if (length > kLongestLabel || size > kLongestName) return std::nullopt;
    if (!name.empty()) name += '.';
    for (const char letter : as_text(in.take(length))) {
      if (letter == '.' || letter == '\\') name += '\\';
      name += ascii_lower(letter);
    }
  }
  if (!in.good()) return std::nullopt;
  return name;
}

DnsCode read_question(Reader& in, DnsQuery& query) {
  auto name = read_name(in);
  query.type = in.number();
  const auto its_class = in.number();
  if (!name || !in.good()) return DnsCode::malformed;
  query.name = *std::move(name);
  return its_class == kInternet ? DnsCode::ok : DnsCode::refused;
}

/// Reads a record after the question. An OPT record has the root's name and occurs once. Instead of
/// the TTL it has a byte of an extended code and the version.
DnsCode read_record(Reader& in, DnsQuery& query) {
  const auto name = read_name(in);
  const auto type = in.number();
  in.number();  // class
  in.byte();
  const auto version = in.byte();
  in.number();
  in.take(in.number());
  if (!name || !in.good()) return DnsCode::malformed;
  if (type != kOpt) return DnsCode::ok;
  if (!name->empty() || query.has_opt) return DnsCode::malformed;
  query.has_opt = true;
  return version == 0 ? DnsCode::ok : DnsCode::bad_version;
}

/// Reads all sections after the header. The first error determines the result, but a format error
/// takes precedence over all others.
DnsCode read_sections(ByteView sections, std::size_t questions, std::size_t records,
                      DnsQuery& query) {
  if (questions != 1) return DnsCode::malformed;
  Reader in(sections);
  auto verdict = read_question(in, query);
  const auto question = sections.first(sections.size() - in.left());
  for (; records > 0 && verdict != DnsCode::malformed; --records) {
    const auto code = read_record(in, query);
    if (verdict == DnsCode::ok || code == DnsCode::malformed) verdict = code;
  }
  if (verdict == DnsCode::malformed || in.left() > 0) return DnsCode::malformed;
  query.question.assign(question.begin(), question.end());
  return verdict;
}

void put(Bytes& out, unsigned number) {
  out.push_back(static_cast<std::uint8_t>(number >> 8));
  out.push_back(static_cast<std::uint8_t>(number));
}

void put_text_record(Bytes& out, std::string_view text) {
  if (text.size() > kLongestText) throw std::length_error("a DNS text of more than 255 bytes");
  put(out, kPointerToQuestion);
  put(out, kDnsTxt);
  put(out, kInternet);
  put(out, 0);  // TTL
  put(out, 0);
  put(out, static_cast<unsigned>(text.size() + 1));
  out.push_back(static_cast<std::uint8_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
}

/// Writes an OPT record with the high bits of a code, which do not fit into the header.
void put_opt_record(Bytes& out, DnsCode code) {
  out.push_back(0);
  put(out, kOpt);
  put(out, kMaxDnsQuery);
  out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(code) >> kCodeBits));
  out.push_back(0);  // version
  put(out, 0);
  put(out, 0);
}

}  // namespace

std::string_view dns_code_name(DnsCode code) {
  switch (code) {
    case DnsCode::ok:
      return "NOERROR";
    case DnsCode::malformed:
      return "FORMERR";
    case DnsCode::failed:
      return "SERVFAIL";
    case DnsCode::no_such_name:
      return "NXDOMAIN";
    case DnsCode::not_implemented:
      return "NOTIMP";
    case DnsCode::refused:
      return "REFUSED";
    case DnsCode::bad_version:
      return "BADVERS";
  }
  return "";
}

std::optional<DnsQuery> read_dns_query(ByteView datagram) {
  if (datagram.size() < kHeaderSize) return std::nullopt;
  Reader header(datagram.first(kHeaderSize));
  DnsQuery query;
  query.id = header.number();
  const unsigned flags = header.number();
  if ((flags & kResponse) != 0) return std::nullopt;
  query.opcode = static_cast<std::uint8_t>(flags >> kOpcodeShift & kOpcodeMask);
  query.recursion_desired = (flags & kRecursionDesired) != 0;
  if (query.opcode != 0) {
    query.verdict = DnsCode::not_implemented;
    return query;
  }
  const std::size_t questions = header.number();
  std::size_t records = 0;
  for (int section = 0; section < 3; ++section) records += header.number();
  query.verdict = read_sections(datagram.subspan(kHeaderSize), questions, records, query);
  return query;
}

Bytes write_dns_answer(const DnsQuery& query, const DnsAnswer& answer) {
  const auto code = static_cast<unsigned>(answer.code);
  unsigned flags = kResponse | unsigned{query.opcode} << kOpcodeShift | (code & kCodeMask);
  if (query.recursion_desired) flags |= kRecursionDesired;
  if (answer.code == DnsCode::ok || answer.code == DnsCode::no_such_name) flags |= kAuthoritative;
  // A query that could not be parsed is not repeated in the answer.
  const bool was_read = !query.question.empty();
  const bool has_opt = was_read && query.has_opt;
  Bytes out;
  put(out, query.id);
  put(out, flags);
  put(out, was_read ? 1 : 0);
  put(out, answer.text ? 1 : 0);
  put(out, 0);
  put(out, has_opt ? 1 : 0);
  out.insert(out.end(), query.question.begin(), query.question.end());
  if (answer.text) put_text_record(out, *answer.text);
  if (has_opt) put_opt_record(out, answer.code);
  return out;
}

}  // namespace skua::sim
