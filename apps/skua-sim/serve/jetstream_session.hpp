#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "jetstream_filter.hpp"
#include "jetstream_host.hpp"

namespace skua::sim {

/// A subscriber of a Jetstream: the common part of both versions.
class JetstreamSession : public WebsocketSession {
 protected:
  JetstreamSession(JetstreamHost& host, std::unique_ptr<Websocket> websocket,
                   JetstreamFilter filter, std::int64_t first, bool compresses);

  boost::asio::awaitable<void> serve() final;
  /// Called before the first event.
  virtual boost::asio::awaitable<void> begin() { co_return; }
  /// The event in this version; empty: this version does not have it.
  virtual std::string_view text_of(const JetstreamEvent& event) const = 0;

  boost::asio::awaitable<void> send_text(std::string_view text);
  void set_filter(JetstreamFilter filter) { filter_ = std::move(filter); }

 private:
  JetstreamHost& host_;
  JetstreamFilter filter_;
  std::int64_t position_;
  const bool compresses_;
};

}  // namespace skua::sim
