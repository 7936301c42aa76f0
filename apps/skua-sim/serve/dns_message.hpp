#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::sim {

// These functions treat DNS messages (RFC 1035, 4.1), as far as a server for one name at a time
// needs them: they parse queries and write answers. They have no I/O and no shared state, so any
// thread may call them.

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
/// Returns the name of a code in the IANA registry: `NOERROR`, `FORMERR`, ...
std::string_view dns_code_name(DnsCode code);

/// The TYPE of a TXT record (RFC 1035, 3.2.2).
constexpr std::uint16_t kDnsTxt = 16;
/// The largest query that a client may send, as the server announces it (RFC 6891, 6.2.5). The
/// value is small enough to avoid fragments.
constexpr std::uint16_t kMaxDnsQuery = 1232;

/// A parsed query.
struct DnsQuery {
  /// The code `ok`, or the error that must be answered to any question.
  DnsCode verdict = DnsCode::ok;
  std::uint16_t id = 0;
  std::uint8_t opcode = 0;
  bool recursion_desired = false;
  /// True if the query has an OPT record (RFC 6891), so that the answer must have one.
  bool has_opt = false;
  /// The name in lower case, without the root's dot: `_atproto.alice.test`. A dot within a label is
  /// escaped with a backslash (RFC 1035, 5.1), so that the name cannot look like another one.
  std::string name;
  std::uint16_t type = 0;
  /// The question section as it was sent, which the answer repeats byte by byte.
  Bytes question;
};

/// Parses a datagram (RFC 1035, 4.1 and 4.2.1; RFC 6891, 6.1). A query has one question, in the
/// class IN, whose name is not compressed. Of the records after the question only OPT is read.
/// Returns nothing if the datagram must be dropped, because it has no complete header or is itself
/// an answer; answers to answers would never end. Any other datagram gets a verdict.
std::optional<DnsQuery> read_dns_query(ByteView datagram);

/// The content of an answer.
struct DnsAnswer {
  DnsCode code = DnsCode::ok;
  /// The text of the TXT record; nothing if there is no record.
  std::optional<std::string> text;
};

/// Returns the datagram of an answer (RFC 1035, 4.1; 3.3.14 for the record), which is authoritative
/// and has TTL 0. The answer has no SOA record, so that no resolver caches that a name does not
/// exist (RFC 2308, 5). Throws std::length_error for a text of more than 255 bytes, which would
/// need two strings.
Bytes write_dns_answer(const DnsQuery& query, const DnsAnswer& answer);

}  // namespace skua::sim
