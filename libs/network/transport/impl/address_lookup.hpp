#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include "base/result.hpp"
#include "transport/address_guard.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"

namespace skua::transport::impl {

/// Looks up the addresses of a host for a coroutine, with a wait that can be cancelled. Part of a
/// connecting client, on the io_context's thread.
class AddressLookup {
 public:
  AddressLookup(boost::asio::io_context& io, std::shared_ptr<Inbox> inbox);

  /// The preferred address first. The text of an address gives this address. One look-up at a time.
  /// `look_up` is copied and runs on a thread of its own. Errors: host_not_found,
  /// host_lookup_failed, or asio's operation_aborted after `cancel`.
  Awaitable<Result<std::vector<boost::asio::ip::address>>> find(const HostLookup& look_up,
                                                                const std::string& host);

  /// Ends the wait. The look-up itself cannot be aborted, and its thread is detached. Its result is
  /// discarded.
  void cancel();

 private:
  const std::shared_ptr<Inbox> inbox_;
  // The look-up's thread has a weak_ptr: it may end after this object is destroyed.
  const std::shared_ptr<Timer> answered_;
  bool cancelled_ = false;
};

}  // namespace skua::transport::impl
