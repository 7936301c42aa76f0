#pragma once

#include <boost/system/error_code.hpp>

namespace skua::documents {

/// Errors of identities and of their retrieval.
enum class errc {
  /// No DID by its syntax.
  did_syntax = 1,
  /// Neither did:plc nor did:web, or a did:web with a path or a port.
  did_method,
  /// Its directory or its host does not know it.
  did_not_found,
  /// The directory has a tombstone for it.
  did_tombstoned,
  /// The document is no JSON object.
  document_json,
  /// The document is of another DID.
  document_of_other,
  /// No verification method `#atproto`.
  document_without_key,
  /// Its `#atproto` key cannot be used: an unknown type, or no point of the curve.
  document_key,
  /// No service `#atproto_pds`.
  document_without_pds,
  /// Its `#atproto_pds` is no URL of http or https.
  document_pds,
  /// The text is not a handle, or its domain is one that no handle may have.
  handle_syntax,
  /// Neither DNS nor the host itself names a DID for it.
  handle_not_found,
  /// The answer has two DIDs, or text that is not a DID.
  handle_ambiguous,
  /// It leads to another DID than the one that claims it.
  handle_of_other,
  /// The directory or host answered with an error of its own (5xx, or something unforeseen).
  server_failed,
  /// The directory or host asks us to wait (429).
  rate_limited,
  /// DNS does not answer, or answers with an error of its own.
  dns_failed,
  /// More look-ups wait than the limit permits.
  busy,
  /// The cache was stopped meanwhile.
  stopped,
  /// A line of the directory's export that cannot be used.
  export_line,
  /// The stream of an export failed before its end, or its directory repeats the same operations.
  export_unreadable,
  /// Reading the answer caused an unexpected exception.
  unforeseen,
};

boost::system::error_code make_error_code(errc e);

/// Whether a failure (of this library or of transport) is caused by the server or the network, so
/// that a later try may succeed. Otherwise it is caused by the data, and remains until the data
/// changes.
bool is_server_failure(const boost::system::error_code& error);

}  // namespace skua::documents

template <>
struct boost::system::is_error_code_enum<skua::documents::errc> : std::true_type {};
