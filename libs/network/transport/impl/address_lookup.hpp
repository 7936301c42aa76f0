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

/// Looks up the addresses of a host for a coroutine, with a wait that can be cancelled. A
/// connecting client owns it and uses it on the io_context's thread.
class AddressLookup {
 public:
  AddressLookup(boost::asio::io_context& io, std::shared_ptr<Inbox> inbox);

  /// Returns the addresses of a host, the preferred address first. If `host` is the text of an
  /// address, returns this address. Only one look-up may be active. `look_up` is copied and runs on
  /// a separate thread. Errors: host_not_found, host_lookup_failed, or asio's operation_aborted
  /// after `cancel`.
  Awaitable<Result<std::vector<boost::asio::ip::address>>> find(const HostLookup& look_up,
                                                                const std::string& host);

  /// Ends the wait. The look-up itself cannot be aborted: its thread is detached and its result is
  /// discarded.
  void cancel();

 private:
  const std::shared_ptr<Inbox> inbox_;
  // The look-up's thread has a weak_ptr, because the thread may end after this object is destroyed.
  const std::shared_ptr<Timer> answered_;
  bool cancelled_ = false;
};

}  // namespace skua::transport::impl
