#include "identity/errc.hpp"

#include <string>

#include "transport/errc.hpp"

namespace skua::identity {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.identity"; }

  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::did_syntax:
        return "not a DID";
      case errc::did_method:
        return "the DID's method is not supported: it must be did:plc, or did:web with a host "
               "name only";
      case errc::did_not_found:
        return "there is no such DID";
      case errc::did_tombstoned:
        return "the DID was given up (tombstoned)";
      case errc::document_json:
        return "the DID document is no JSON object";
      case errc::document_of_other:
        return "the DID document is of another DID";
      case errc::document_without_key:
        return "the DID document has no verification method #atproto";
      case errc::document_key:
        return "the DID document's #atproto key cannot be used";
      case errc::document_without_pds:
        return "the DID document has no service #atproto_pds";
      case errc::document_pds:
        return "the DID document's #atproto_pds is no http or https URL";
      case errc::handle_syntax:
        return "not a handle";
      case errc::handle_not_found:
        return "nothing says which DID the handle has";
      case errc::handle_ambiguous:
        return "what is said of the handle's DID contradicts itself or names none";
      case errc::handle_of_other:
        return "the handle belongs to another DID";
      case errc::server_failed:
        return "the server answered with an error";
      case errc::rate_limited:
        return "the server asks to come back later";
      case errc::dns_failed:
        return "DNS does not answer; --dns ADDRESS names another server";
      case errc::busy:
        return "too many identities are being looked up";
      case errc::stopped:
        return "stopped";
      case errc::export_line:
        return "not a line of a PLC directory's export";
      case errc::export_unreadable:
        return "the export cannot be read to its end";
      case errc::unforeseen:
        return "what was answered cannot be processed";
    }
    return "unknown identity error";
  }
};

bool is_server_failure(errc error) {
  return error == errc::server_failed || error == errc::rate_limited || error == errc::dns_failed ||
         error == errc::busy || error == errc::stopped;
}

/// What the network's data brings about stays as it is; the rest may be better next time.
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
  static const Category category;
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

}  // namespace skua::identity
