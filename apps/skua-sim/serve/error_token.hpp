#pragma once

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace skua::sim {

/// A completion token that writes errors to `error` instead of throwing them. Give it a name before
/// the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

}  // namespace skua::sim
