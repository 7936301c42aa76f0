#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include "base/result.hpp"
#include "transport/host_lookup.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"

namespace skua::transport::impl {

/// Finds the addresses of a host for a coroutine that can be told to stop waiting. A part of what
/// connects, on the io_context's thread.
class AddressLookup {
 public:
  AddressLookup(boost::asio::io_context& io, std::shared_ptr<Inbox> inbox);

  /// The preferred address first; of an address in text, itself. One at a time. `look_up` runs on a
  /// thread of its own and is copied for it. Errors: host_not_found, host_lookup_failed, or
  /// asio's operation_aborted after `cancel`.
  Awaitable<Result<std::vector<boost::asio::ip::address>>> find(const HostLookup& look_up,
                                                                const std::string& host);

  /// Ends the wait. The look-up itself cannot be aborted, and its thread is detached. Its result is
  /// discarded.
  void cancel();

 private:
  const std::shared_ptr<Inbox> inbox_;
  // The look-up's thread has a weak_ptr: it may end when all this is gone.
  const std::shared_ptr<Timer> answered_;
  bool cancelled_ = false;
};

}  // namespace skua::transport::impl
