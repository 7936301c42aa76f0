#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::sim {

// DNS messages (RFC 1035, 4.1) as far as a server of one name at a time has to know them: queries
// are read, answers written. No I/O, nothing shared: any thread.

/// RCODE (RFC 1035, 4.1.1), and what RFC 6891 (9) adds.
enum class DnsCode : std::uint8_t {
  ok = 0,
  malformed = 1,
  failed = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16,
};
/// As its registry writes it: `NOERROR`, `FORMERR`, ...
std::string_view dns_code_name(DnsCode code);

/// TYPE of a TXT record (RFC 1035, 3.2.2).
constexpr std::uint16_t kDnsTxt = 16;
/// What a client may send, and what it is told so (RFC 6891, 6.2.5): no fragments come of it.
constexpr std::uint16_t kMaxDnsQuery = 1232;

/// What somebody asks.
struct DnsQuery {
  /// `ok`, or what the query has to be answered with whatever it asks.
  DnsCode verdict = DnsCode::ok;
  std::uint16_t id = 0;
  std::uint8_t opcode = 0;
  bool recursion_desired = false;
  /// It has an OPT record (RFC 6891), and so must the answer.
  bool has_opt = false;
  /// In lower case, without the root's dot: `_atproto.alice.test`. A dot inside of a label has a
  /// backslash before it (RFC 1035, 5.1), so that it makes no other name of it.
  std::string name;
  std::uint16_t type = 0;
  /// The question section as it was sent, which the answer repeats letter by letter.
  Bytes question;
};

/// Reads a datagram (RFC 1035, 4.1 and 4.2.1; RFC 6891, 6.1). A query has one question, in the
/// class IN, whose name is not compressed; of the records behind it only OPT is looked at. Nothing:
/// it is to be dropped, because it has no whole header or is an answer itself, and answering those
/// would never end. All else has a verdict.
std::optional<DnsQuery> read_dns_query(ByteView datagram);

/// What somebody hears.
struct DnsAnswer {
  DnsCode code = DnsCode::ok;
  /// Of the one TXT record; nothing: no record.
  std::optional<std::string> text;
};

/// The datagram of an answer (RFC 1035, 4.1; 3.3.14 for the record), authoritative and with TTL 0.
/// No SOA record stands in it, so that nobody remembers that a name does not exist (RFC 2308, 5).
/// Throws std::length_error for a text of more than 255 bytes, which would be two strings.
Bytes write_dns_answer(const DnsQuery& query, const DnsAnswer& answer);

}  // namespace skua::sim
