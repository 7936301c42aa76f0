#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::sim {

// DNS messages (RFC 1035, 4.1), limited to the needs of a server for one name at a time: it parses
// queries and writes answers. No I/O, no shared state: any thread.

/// RCODE (RFC 1035, 4.1.1, extended by RFC 6891, 9).
enum class DnsCode : std::uint8_t {
  ok = 0,
  malformed = 1,
  failed = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16,
};
/// The name in the IANA registry: `NOERROR`, `FORMERR`, ...
std::string_view dns_code_name(DnsCode code);

/// TYPE of a TXT record (RFC 1035, 3.2.2).
constexpr std::uint16_t kDnsTxt = 16;
/// The largest query that a client may send, as announced to it (RFC 6891, 6.2.5): small enough to
/// avoid fragments.
constexpr std::uint16_t kMaxDnsQuery = 1232;

/// A parsed query.
struct DnsQuery {
  /// `ok`, or the error that must be answered whatever the question.
  DnsCode verdict = DnsCode::ok;
  std::uint16_t id = 0;
  std::uint8_t opcode = 0;
  bool recursion_desired = false;
  /// The query has an OPT record (RFC 6891), so the answer must have one.
  bool has_opt = false;
  /// In lower case, without the root's dot: `_atproto.alice.test`. A dot within a label is escaped
  /// with a backslash (RFC 1035, 5.1), so that it cannot look like another name.
  std::string name;
  std::uint16_t type = 0;
  /// The question section as it was sent, which the answer repeats byte by byte.
  Bytes question;
};

/// Parses a datagram (RFC 1035, 4.1 and 4.2.1; RFC 6891, 6.1). A query has one question, in the
/// class IN, whose name is not compressed; of the records after it only OPT is read. Nothing: drop
/// the datagram, because it has no complete header, or is itself an answer, and answering answers
/// would never end. Everything else has a verdict.
std::optional<DnsQuery> read_dns_query(ByteView datagram);

/// The content of an answer.
struct DnsAnswer {
  DnsCode code = DnsCode::ok;
  /// The text of the TXT record; nothing: no record.
  std::optional<std::string> text;
};

/// The datagram of an answer (RFC 1035, 4.1; 3.3.14 for the record), authoritative and with TTL 0.
/// It has no SOA record, so that no resolver caches that a name does not exist (RFC 2308, 5).
/// Throws std::length_error for a text of more than 255 bytes, which would need two strings.
Bytes write_dns_answer(const DnsQuery& query, const DnsAnswer& answer);

}  // namespace skua::sim
