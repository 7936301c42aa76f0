#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace skua::http_server {

/// Runs functions on the server's thread. It may outlive the server: then `post` does nothing. Any
/// thread.
class Posting {
 public:
  explicit Posting(boost::asio::io_context& io) : io_(&io) {}

  void post(std::function<void()> function) {
    const std::scoped_lock lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::move(function));
  }
  /// Call it before the io_context is destroyed.
  void close() {
    const std::scoped_lock lock(mutex_);
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

}  // namespace skua::http_server
