#include "documents/errc.hpp"

#include <array>

#include "base/result.hpp"
#include "transport/errc.hpp"

namespace skua::documents {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::did_syntax, "not a DID"},
    {errc::did_method,
     "the DID's method is not supported: it must be did:plc, or did:web with a host name only"},
    {errc::did_not_found, "there is no such DID"},
    {errc::did_tombstoned, "the DID was given up (tombstoned)"},
    {errc::document_json, "the DID document is no JSON object"},
    {errc::document_of_other, "the DID document is of another DID"},
    {errc::document_without_key, "the DID document has no verification method #atproto"},
    {errc::document_key, "the DID document's #atproto key cannot be used"},
    {errc::document_without_pds, "the DID document has no service #atproto_pds"},
    {errc::document_pds, "the DID document's #atproto_pds is no http or https URL"},
    {errc::handle_syntax, "not a handle"},
    {errc::handle_not_found, "nothing says which DID the handle has"},
    {errc::handle_ambiguous, "what is said of the handle's DID contradicts itself or names none"},
    {errc::handle_of_other, "the handle belongs to another DID"},
    {errc::server_failed, "the server answered with an error"},
    {errc::rate_limited, "the server asks to come back later"},
    {errc::dns_failed, "DNS does not answer; --dns ADDRESS names another server"},
    {errc::busy, "too many identities are being looked up"},
    {errc::stopped, "stopped"},
    {errc::export_line, "not a line of a PLC directory's export"},
    {errc::export_unreadable, "the export cannot be read to its end"},
    {errc::unforeseen, "what was answered cannot be processed"},
});

bool is_server_failure(errc error) {
  return error == errc::server_failed || error == errc::rate_limited || error == errc::dns_failed ||
         error == errc::busy || error == errc::stopped;
}

/// Returns false for the failures that data of the network causes, because they remain. Other
/// failures may be over at the next attempt.
bool is_server_failure(transport::errc error) {
  switch (error) {
    case transport::errc::host_lookup_failed:
    case transport::errc::connect_failed:
    case transport::errc::connect_refused:
    case transport::errc::connect_timed_out:
    case transport::errc::tls_failed:
    case transport::errc::tls_untrusted:
    case transport::errc::http_timed_out:
    case transport::errc::http_too_slow:
    case transport::errc::http_dropped:
    case transport::errc::http_malformed:
    case transport::errc::http_busy:
    case transport::errc::http_stopped:
    case transport::errc::spool_failed:
      return true;
    default:
      return false;
  }
}

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.identity");
  return {static_cast<int>(e), category};
}

bool is_server_failure(const boost::system::error_code& error) {
  if (error.category() == make_error_code(errc::busy).category()) {
    return is_server_failure(static_cast<errc>(error.value()));
  }
  if (error.category() == make_error_code(transport::errc::http_busy).category()) {
    return is_server_failure(static_cast<transport::errc>(error.value()));
  }
  return true;
}

}  // namespace skua::documents
