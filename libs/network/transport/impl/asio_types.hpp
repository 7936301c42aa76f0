#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/result.hpp"

namespace skua::transport::impl {

// All objects of a client use one io_context. Naming its executor avoids Asio's type-erased
// executor, which costs an indirect call and sometimes an allocation per operation.
using Executor = boost::asio::io_context::executor_type;
using Tcp = boost::asio::ip::tcp;
using Socket = boost::asio::basic_stream_socket<Tcp, Executor>;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
template <class T>
using Awaitable = boost::asio::awaitable<T, Executor>;

/// A completion token that writes the error to `error` instead of throwing it. Give the token a
/// name before the `co_await`: GCC 12.2 destroys aggregate temporaries in such an expression twice.
inline auto into(ErrorCode& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable_t<Executor>(), error);
}

}  // namespace skua::transport::impl
