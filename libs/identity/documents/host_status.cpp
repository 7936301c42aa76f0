#include "documents/host_status.hpp"

#include <nlohmann/json.hpp>

#include "atproto/repository_state.hpp"
#include "documents/errc.hpp"
#include "documents/plc_export.hpp"

namespace skua::documents {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxAnswer = 64 * 1024;

/// Escapes the percent sign that a DID may contain (did:web with a port), because the sign is a
/// part of the DID.
std::string query_of(std::string_view did) {
  std::string text;
  for (const char c : did) text += c == '%' ? std::string("%25") : std::string(1, c);
  return text;
}

Result<HostStatus> status_of(const transport::HttpAnswer& answer, std::string_view did) {
  if (answer.status == 429) return errc::rate_limited;
  const json body = json::parse(answer.body, nullptr, false);
  if (answer.status == 400 && text_field(body, "error") == "RepoNotFound") {
    return HostStatus{false, "deleted"};
  }
  if (answer.status != 200) return errc::server_failed;
  if (!body.is_object()) return errc::document_json;
  if (text_field(body, "did") != did) return errc::document_of_other;
  const auto active = body.find("active");
  if (active == body.end() || !active->is_boolean()) return errc::document_json;
  const auto status = text_field(body, "status");
  return HostStatus{!atproto::hides(active->get<bool>(), status), std::string(status)};
}

}  // namespace

std::string site_of(std::string_view did) {
  return site_of_host(did.substr(did.rfind(':') + 1));
}

std::string site_of_host(std::string_view host) {
  const auto last = host.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::string(host);
  const auto before = host.rfind('.', last - 1);
  return std::string(before == std::string_view::npos ? host : host.substr(before + 1));
}

std::string site_of_origin(std::string_view origin) {
  constexpr std::string_view kBehindScheme = "://";
  const auto scheme = origin.find(kBehindScheme);
  const auto authority =
      scheme == origin.npos ? origin : origin.substr(scheme + kBehindScheme.size());
  const auto host = authority.substr(0, authority.find(':'));
  const auto last = host.substr(host.rfind('.') + 1);
  const bool is_address =
      authority.starts_with('[') || last.empty() || (last.front() >= '0' && last.front() <= '9');
  if (is_address || last.size() == host.size()) return std::string(authority);
  return site_of_host(host);
}

transport::HttpRequest host_status_request(const std::string& pds, std::string_view did) {
  transport::HttpRequest request;
  request.url = pds + "/xrpc/com.atproto.sync.getRepoStatus?did=" + query_of(did);
  request.max_body_bytes = kMaxAnswer;
  return request;
}

Result<HostStatus> read_host_status(const Result<transport::HttpAnswer>& answer,
                                    std::string_view did) {
  if (!answer) return answer.error();
  return read_input<Result<HostStatus>>(did, [&] { return status_of(*answer, did); });
}

}  // namespace skua::documents
