#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/guarded.hpp"

namespace skua::transport::impl {

/// Lets other threads post work to an io_context that may no longer exist. All threads that post
/// share the inbox, and its owner closes it. Work that is posted later is discarded.
class Inbox {
 public:
  explicit Inbox(boost::asio::io_context& context) : context_(&context) {}

  void post(std::function<void()> work) {
    context_.with([&](boost::asio::io_context* context) {
      if (context != nullptr) boost::asio::post(*context, std::move(work));
    });
  }

  /// After this call the io_context is not used any more.
  void close() {
    context_.with([](boost::asio::io_context*& context) { context = nullptr; });
  }

 private:
  Guarded<boost::asio::io_context*> context_;
};

}  // namespace skua::transport::impl
