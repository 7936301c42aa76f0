#include "transport/impl/failure_text.hpp"

#include <cstddef>
#include <string_view>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/error.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/text.hpp"
#include "transport/errc.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

/// The number of characters of a redirect's target that are shown.
constexpr std::size_t kMostOfLocation = 300;

bool is_http_error(ErrorCode error) {
  return error.category() ==
         beast::http::make_error_code(beast::http::error::bad_version).category();
}

bool dropped(ErrorCode error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
         error == asio::error::connection_reset || error == asio::error::broken_pipe ||
         error == beast::http::error::end_of_stream || error == beast::http::error::partial_message;
}

std::string_view close_code_name(std::uint16_t code) {
  switch (code) {
    case websocket::close_code::normal:
      return "normal";
    case websocket::close_code::going_away:
      return "going away";
    case websocket::close_code::protocol_error:
      return "protocol error";
    case websocket::close_code::policy_error:
      return "policy violation";
    case websocket::close_code::too_big:
      return "message too big";
    case websocket::close_code::internal_error:
      return "internal error";
    case websocket::close_code::service_restart:
      return "service restart";
    case websocket::close_code::try_again_later:
      return "try again later";
    default:
      return "";
  }
}

}  // namespace

std::string timeout_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  return ms % 1000 == 0 ? fmt::format("{} s", ms / 1000) : fmt::format("{} ms", ms);
}

std::string lookup_failed(const Endpoint& endpoint, ErrorCode error) {
  if (error == errc::host_not_found) return fmt::format("host not found: {}", endpoint.host);
  if (error == errc::address_not_public) {
    return fmt::format("{} has only private addresses", endpoint.host);
  }
  return fmt::format("the name {} cannot be looked up now: is there a network, does DNS answer?",
                     endpoint.host);
}

std::string connect_failed(const Endpoint& endpoint, ErrorCode error) {
  const auto where = fmt::format("{}:{}", endpoint.host, endpoint.port);
  if (error == asio::error::connection_refused)
    return fmt::format("connection refused by {}", where);
  if (error == asio::error::timed_out) return fmt::format("{} does not answer", where);
  if (error == asio::error::network_unreachable || error == asio::error::host_unreachable) {
    return fmt::format("no route to {}: is there a network?", where);
  }
  return fmt::format("cannot connect to {}: {}", where, error.message());
}

std::string tls_failed(const Endpoint& endpoint, ErrorCode error) {
  const auto where = fmt::format("{}:{}", endpoint.host, endpoint.port);
  if (dropped(error)) return fmt::format("{} dropped the connection while TLS began", where);
  if (error.category() == asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_WRONG_VERSION_NUMBER) {
    return fmt::format("{} does not speak TLS: is it meant to be ws:// ?", where);
  }
  return fmt::format("TLS with {} failed: {}", where, error.message());
}

std::string upgrade_refused(const Endpoint& endpoint, std::string_view target,
                            const UpgradeRefusal& refusal) {
  const std::string_view name =
      beast::http::obsolete_reason(beast::http::int_to_status(refusal.status));
  auto text =
      fmt::format("{} answered {} {} instead of opening a websocket at {}", endpoint.authority(),
                  refusal.status, name, target.substr(0, target.find('?')));
  for (const auto& part : {refusal.error, refusal.message}) {
    if (!part.empty() && part != name) text += fmt::format(": {}", part);
  }
  if (beast::http::int_to_status(refusal.status) == beast::http::status::unauthorized) {
    text += " (is the password right?)";
  }
  if (!refusal.location.empty()) {
    text += fmt::format("; it redirects to {}, and redirects are not followed",
                        printable(refusal.location, kMostOfLocation));
  }
  return text;
}

std::string upgrade_failed(const Endpoint& endpoint, ErrorCode error) {
  if (dropped(error)) {
    return fmt::format("{} dropped the connection before the websocket was open",
                       endpoint.authority());
  }
  if (is_http_error(error)) {
    return fmt::format("{} does not answer with HTTP: {}", endpoint.authority(), error.message());
  }
  return fmt::format("{} opened no websocket: {}", endpoint.authority(), error.message());
}

std::string read_failed(std::string_view peer, ErrorCode error) {
  if (dropped(error)) return fmt::format("{} dropped the connection", peer);
  if (error.category() == websocket::make_error_code(websocket::error::closed).category()) {
    return fmt::format("{} broke the websocket protocol: {}", peer, error.message());
  }
  return fmt::format("reading failed: {}", error.message());
}

std::string closed_by(std::string_view peer, const websocket::close_reason& reason) {
  if (reason.code == websocket::close_code::none) {
    return fmt::format("closed by {}, no reason given", peer);
  }
  const auto name = close_code_name(reason.code);
  auto text = fmt::format("closed by {}: {}", peer, static_cast<unsigned>(reason.code));
  if (!name.empty()) text += fmt::format(" ({})", name);
  if (!reason.reason.empty()) {
    text += fmt::format(" {}", std::string_view(reason.reason.data(), reason.reason.size()));
  }
  return text;
}

}  // namespace skua::transport::impl
