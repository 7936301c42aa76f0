#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace skua::http_server {

namespace asio = boost::asio;
using Tcp = boost::asio::ip::tcp;

/// A completion token that writes errors to `error` instead of throwing them. Give it a name before
/// the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
inline auto error_to(boost::system::error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

}  // namespace skua::http_server
