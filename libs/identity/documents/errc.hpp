#pragma once

#include <boost/system/error_code.hpp>

namespace skua::documents {

/// Errors of identities and of their retrieval.
enum class errc {
  /// The text does not have the syntax of a DID.
  did_syntax = 1,
  /// The DID is neither did:plc nor did:web, or is a did:web with a path or a port.
  did_method,
  /// The DID's directory or host does not know the DID.
  did_not_found,
  /// The directory has a tombstone for the DID.
  did_tombstoned,
  /// The document is not a JSON object.
  document_json,
  /// The document belongs to another DID.
  document_of_other,
  /// The document has no verification method `#atproto`.
  document_without_key,
  /// The document's `#atproto` key cannot be used, because its type is unknown or it is not a point
  /// of the curve.
  document_key,
  /// The document has no service `#atproto_pds`.
  document_without_pds,
  /// The document's `#atproto_pds` is not an http or https URL.
  document_pds,
  /// The text is not a handle, or its domain is one that no handle may have.
  handle_syntax,
  /// Neither DNS nor the host itself names a DID for the handle.
  handle_not_found,
  /// The answer has two DIDs, or text that is not a DID.
  handle_ambiguous,
  /// The handle leads to another DID than the one that claims the handle.
  handle_of_other,
  /// The directory or host answered with a server error (5xx) or in an unexpected form.
  server_failed,
  /// The directory or host asks us to wait (429).
  rate_limited,
  /// DNS does not answer, or answers with a server error.
  dns_failed,
  /// More look-ups wait than the limit permits.
  busy,
  /// The cache was stopped before the answer came.
  stopped,
  /// A line of the directory's export cannot be used.
  export_line,
  /// The stream of an export failed before its end, or the directory repeats the same operations.
  export_unreadable,
  /// Reading the answer caused an unexpected exception.
  unforeseen,
};

boost::system::error_code make_error_code(errc e);

/// Whether the server or the network caused a failure (of this library or of transport), so that a
/// later attempt may succeed. Otherwise the data caused the failure, which remains until the data
/// changes.
bool is_server_failure(const boost::system::error_code& error);

}  // namespace skua::documents

template <>
struct boost::system::is_error_code_enum<skua::documents::errc> : std::true_type {};
