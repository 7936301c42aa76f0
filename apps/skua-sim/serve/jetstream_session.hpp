#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>

#include "atproto/collection_filter.hpp"
#include "serve/jetstream_log.hpp"
#include "serve/router.hpp"
#include "serve/websocket_session.hpp"
#include "serve/zstd_dictionary.hpp"

namespace skua::sim {

/// The filter of a Jetstream subscriber. By default all events pass.
struct JetstreamFilter {
  std::set<std::string, std::less<>> dids;
  atproto::CollectionFilter collections;
  /// Only v2 has this list.
  std::set<std::string, std::less<>> kinds;
  /// The limit for the size of the uncompressed message; 0 for no limit.
  std::size_t longest = 0;

  /// Returns whether an event passes. Identity and account events have no collection and always
  /// pass.
  bool wants(const JetstreamEvent& event) const;
};

/// Makes a filter of at most 100 NSIDs and `prefix.*`, and at most 10,000 DIDs. The error is a
/// message.
boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids);

inline constexpr std::string_view kJetstreamV1Path = "/subscribe";
inline constexpr std::string_view kJetstreamV2Path = "/xrpc/network.bsky.jetstream.subscribeEvents";

/// The state that the subscribers of a Jetstream share, in both versions. The object must outlive
/// them.
struct JetstreamHost {
  JetstreamLog& log;
  /// Null if compression is refused.
  const ZstdDictionary* dictionary = nullptr;
  SessionHost sessions;
};

/// Offers /subscribe of v1 with cursor in microseconds, wantedCollections, wantedDids,
/// maxMessageSizeBytes, compress, requireHello, options_update.
WebsocketOffer offer_jetstream_v1(JetstreamHost& host);

/// Offers network.bsky.jetstream.subscribeEvents of v2, framed as xrpc.v1.json, with cursor (a seq,
/// or microseconds from 10^15 on), kinds, dids, collections, maxMessageSizeBytes, zstdDictionary.
WebsocketOffer offer_jetstream_v2(JetstreamHost& host);

/// Returns the routes of the health check and getZstdDictionary.
Router jetstream_routes(const JetstreamHost& host);

/// A subscriber of a Jetstream: the common part of both versions.
class JetstreamSession : public WebsocketSession {
 protected:
  JetstreamSession(JetstreamHost& host, std::unique_ptr<Websocket> websocket,
                   JetstreamFilter filter, std::int64_t first, bool compresses);

  boost::asio::awaitable<void> serve() final;
  /// Runs before the first event.
  virtual boost::asio::awaitable<void> begin() { co_return; }
  /// Returns the event in this version; empty if the version does not have the event.
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
