#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <fmt/format.h>

#include "transport/errc.hpp"
#include "transport/http_client.hpp"
#include "transport/impl/failure_text.hpp"
#include "transport/impl/stream_session.hpp"
#include "transport/impl/tcp_or_tls_stream.hpp"
#include "transport/impl/tls_client.hpp"
#include "transport/impl/upgrade_refusal.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

class WebsocketSession final : public StreamSession {
 public:
  explicit WebsocketSession(const SessionContext& context)
      : StreamSession(context), websocket_(context.io.get_executor()) {
    buffer_.reserve(kBufferBytes);
    // No limit, because Beast would end the connection: `read_frame` has one.
    websocket_.read_message_max(0);
    websocket_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::close) expect_end();
      if (kind == websocket::frame_type::pong) pong_came();
    });
    websocket_.set_option(
        websocket::stream_base::decorator([this](websocket::request_type& request) {
          const auto& options = context_.options;
          request.set(beast::http::field::user_agent, options.user_agent);
          if (!options.subprotocol.empty()) {
            request.set(beast::http::field::sec_websocket_protocol, options.subprotocol);
          }
          for (const auto& [name, value] : options.headers) request.set(name, value);
        }));
  }

 private:
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  Socket& socket() override { return websocket_.next_layer().socket(); }

  Awaitable<std::optional<std::string>> open_websocket(std::string target) override {
    const auto& endpoint = context_.options.endpoint;
    ErrorCode error;
    auto token = into(error);
    if (endpoint.tls) {
      at_stage("in the TLS handshake");
      auto& tls = websocket_.next_layer().add_tls(*context_.tls);
      set_server_name(tls.native_handle(), endpoint);
      tls.set_verify_callback(verify_host(endpoint, certificate_refusal_), error);
      if (error) co_return tls_failed(endpoint, error);
      co_await websocket_.next_layer().async_handshake(token);
      if (error && !certificate_refusal_.reason.empty()) {
        certificate_refused();
        co_return certificate_refusal_.reason;
      }
      if (error) co_return tls_failed(endpoint, error);
    }
    at_stage("in the websocket upgrade");
    websocket::response_type response;
    const auto host = endpoint.authority();
    co_await websocket_.async_handshake(response, host, target, token);
    if (error == websocket::error::upgrade_declined) {
      auto refusal = read_refusal(response.result_int(), response.body());
      read_headers(response, refusal);
      refused(refusal);
      co_return upgrade_refused(endpoint, target, refusal);
    }
    if (error) co_return upgrade_failed(endpoint, error);
    websocket_.text(true);
    co_return check_subprotocol(response[beast::http::field::sec_websocket_protocol]);
  }

  void read_headers(const websocket::response_type& response, UpgradeRefusal& refusal) const {
    const auto text = [&](auto name) { return std::string(response[name]); };
    using Field = beast::http::field;
    if (response.result() == beast::http::status::too_many_requests ||
        response.result() == beast::http::status::service_unavailable) {
      HttpAnswer answer;
      answer.retry_after = text(Field::retry_after);
      answer.rate_limit_remaining = text("RateLimit-Remaining");
      answer.rate_limit_reset = text("RateLimit-Reset");
      refusal.asked_wait = asked_wait(answer, context_.options.clock->now());
    }
    if (beast::http::to_status_class(response.result()) == beast::http::status_class::redirection) {
      refusal.location = text(Field::location);
    }
  }

  std::optional<std::string> check_subprotocol(beast::string_view chosen) const {
    const auto& options = context_.options;
    if (chosen.empty() || chosen == options.subprotocol) return std::nullopt;
    return fmt::format("{} speaks another subprotocol than the one asked for ({})",
                       options.endpoint.authority(), options.subprotocol);
  }

  Awaitable<std::optional<std::string>> read_frame(RawFrame& frame) override {
    ErrorCode error;
    auto token = into(error);
    const std::size_t limit = context_.options.max_frame_bytes;
    buffer_.clear();
    // The message before may be too large: its rest has no place.
    while (!websocket_.is_message_done()) {
      co_await websocket_.async_read_some(buffer_, kBufferBytes, token);
      if (error) co_return end_text(error);
      buffer_.clear();
    }
    while (true) {
      do {
        co_await websocket_.async_read_some(buffer_, limit + 1 - buffer_.size(), token);
        if (error) co_return end_text(error);
        // The part of an unwanted message has no place either.
        if (!is_wanted(websocket_.got_text())) buffer_.clear();
      } while (!websocket_.is_message_done() && buffer_.size() <= limit);
      message_came();
      if (is_wanted(websocket_.got_text())) break;
      context_.sink.on_ignored();
    }
    const auto message = buffer_.cdata();
    const auto* data = static_cast<const std::uint8_t*>(message.data());
    frame.bytes.assign(data, data + std::min(message.size(), limit));
    frame.received_at = context_.options.clock->now();
    frame.text = websocket_.got_text();
    frame.defect = message.size() > limit ? make_error_code(errc::message_too_large) : ErrorCode();
    co_return std::nullopt;
  }

  bool is_wanted(bool text) const {
    const auto unwanted = text ? MessageKinds::Binary : MessageKinds::Text;
    return context_.options.messages != unwanted;
  }

  Awaitable<ErrorCode> write_text(const std::string& text) override {
    ErrorCode error;
    auto token = into(error);
    const auto bytes = asio::buffer(text);
    co_await websocket_.async_write(bytes, token);
    co_return error;
  }

  std::string end_text(ErrorCode error) {
    // The reason also exists if the other side sent a close frame and then did not end the
    // connection.
    const bool closed = error == websocket::error::closed || websocket_.reason().code != 0;
    const auto& peer = context_.options.peer;
    return closed ? closed_by(peer, websocket_.reason()) : read_failed(peer, error);
  }

  Awaitable<ErrorCode> ping() override {
    ErrorCode error;
    auto token = into(error);
    const websocket::ping_data nothing;
    co_await websocket_.async_ping(nothing, token);
    co_return error;
  }

  Awaitable<void> close() override {
    ErrorCode ignored;
    auto token = into(ignored);
    const websocket::close_reason reason(websocket::close_code::normal);
    co_await websocket_.async_close(reason, token);
  }

  /// Why the certificate was refused. Stored here, because a server may renegotiate.
  CertificateRefusal certificate_refusal_;
  websocket::stream<TcpOrTlsStream, false> websocket_;  // false: never offers permessage-deflate
  beast::flat_buffer buffer_;
};

}  // namespace

std::shared_ptr<StreamSession> make_stream_session(const SessionContext& context) {
  return std::make_shared<WebsocketSession>(context);
}

}  // namespace skua::transport::impl
