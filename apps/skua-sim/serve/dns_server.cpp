#include "serve/dns_server.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "serve/handle_zone.hpp"

namespace skua::sim {

namespace asio = boost::asio;

namespace {

using Json = nlohmann::ordered_json;

void log_question(const DnsSite& site, const DnsQuery& query, DnsCode code) {
  site.log.write({{"event", "question"},
                  {"name", query.name},
                  {"type", query.type},
                  {"code", dns_code_name(code)},
                  {"server", "dns"}});
}

}  // namespace

DnsServer::DnsServer(asio::io_context& io, std::uint16_t port)
    : socket_(io, Udp::endpoint(asio::ip::address_v4::loopback(), port)),
      address_("127.0.0.1:" + std::to_string(socket_.local_endpoint().port())) {}

void DnsServer::start(const DnsSite& site) {
  asio::co_spawn(socket_.get_executor(), serve(site), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
}

void DnsServer::stop() {
  socket_.close();
}

asio::awaitable<void> DnsServer::serve(DnsSite site) {
  // The system truncates a longer datagram, which is then malformed.
  std::array<std::uint8_t, kMaxDnsQuery> room{};
  const auto buffer = asio::buffer(room);
  while (socket_.is_open()) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    Udp::endpoint client;
    const std::size_t size = co_await socket_.async_receive_from(buffer, client, token);
    if (error) {
      // The cause may be temporary, for example a lack of memory, so the server pauses and
      // continues.
      asio::steady_timer pause(socket_.get_executor(), std::chrono::milliseconds(50));
      co_await pause.async_wait(token);
      continue;
    }
    const auto query = read_dns_query(ByteView(room).first(size));
    if (!query) continue;
    const auto said = answer_from_handles(*query, site.network);
    log_question(site, *query, said.code);
    const auto datagram = write_dns_answer(*query, said);
    const auto content = asio::buffer(datagram);
    co_await socket_.async_send_to(content, client, token);
  }
}

}  // namespace skua::sim
