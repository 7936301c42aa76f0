#include "transport/impl/address_lookup.hpp"

#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/error.hpp>

#include "transport/errc.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;

using Texts = Result<std::vector<std::string>>;

struct Pending {
  Texts found = errc::host_lookup_failed;
  bool done = false;
};

/// Looks up a host. An exception counts as a failing name server.
Texts looked_up(const HostLookup& look_up, const std::string& host) {
  try {
    return look_up(host);
  } catch (const std::exception&) {
    return errc::host_lookup_failed;
  }
}

/// Looks up a host on a new thread, and then ends the wait on `answered` if the timer still exists.
std::shared_ptr<Pending> start(const HostLookup& look_up, const std::string& host,
                               const std::shared_ptr<Inbox>& inbox,
                               const std::weak_ptr<Timer>& answered) {
  auto pending = std::make_shared<Pending>();
  // getaddrinfo cannot be interrupted and may block for half a minute if DNS is unreachable. So its
  // thread is detached, and stopping does not wait for the thread.
  try {
    std::thread([pending, look_up, host, inbox, answered] {
      pending->found = looked_up(look_up, host);
      inbox->post([pending, answered] {
        pending->done = true;
        if (const auto timer = answered.lock()) timer->cancel();
      });
    }).detach();
  } catch (const std::system_error&) {
    pending->done = true;  // no thread was available
  }
  return pending;
}

}  // namespace

AddressLookup::AddressLookup(asio::io_context& io, std::shared_ptr<Inbox> inbox)
    : inbox_(std::move(inbox)), answered_(std::make_shared<Timer>(io.get_executor())) {}

Awaitable<Result<std::vector<asio::ip::address>>> AddressLookup::find(const HostLookup& look_up,
                                                                      const std::string& host) {
  std::vector<asio::ip::address> addresses;
  ErrorCode not_an_address;
  const auto literal = asio::ip::make_address(host, not_an_address);
  if (!not_an_address) {
    addresses.push_back(literal);
    co_return addresses;
  }

  const auto pending = start(look_up, host, inbox_, answered_);
  while (!pending->done && !cancelled_) {
    ErrorCode ignored;
    auto token = into(ignored);
    answered_->expires_at(std::chrono::steady_clock::time_point::max());
    co_await answered_->async_wait(token);
  }
  if (cancelled_) co_return asio::error::make_error_code(asio::error::operation_aborted);
  if (!pending->found) co_return pending->found.error();
  for (const auto& text : *pending->found) {
    ErrorCode error;
    const auto address = asio::ip::make_address(text, error);
    if (!error) addresses.push_back(address);
  }
  if (addresses.empty()) co_return errc::host_not_found;
  co_return addresses;
}

void AddressLookup::cancel() {
  cancelled_ = true;
  answered_->cancel();
}

}  // namespace skua::transport::impl
