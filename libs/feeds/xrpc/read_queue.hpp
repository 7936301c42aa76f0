#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fair_queue.hpp"
#include "base/seeded_hash.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"

namespace skua::xrpc {

/// The requests that wait for a database session. Clients take turns, so a client delays another
/// one by its running requests only. Each client has a share of the time of the sessions: a client
/// that has used up its share waits as long as clients within their shares wait. Without such
/// clients it may use all sessions but one. For one thread.
///
/// `T` is a request. The times are those of a clock that never jumps.
template <class T>
class ReadQueue {
 public:
  struct Options {
    /// The number of requests of one client that run at the same time.
    std::size_t running_of_client = 1;
    /// The number of waiting requests of one client, and of all.
    std::size_t waiting_of_client = 32;
    std::size_t waiting = 256;
    /// The time of a session that a client may use, in milliseconds.
    Share session_time{.burst = 10'000, .every = std::chrono::milliseconds(5)};
  };

  struct Item {
    std::string client;
    Timestamp since;
    T request;
  };

  explicit ReadQueue(const Options& options)
      : options_(options), lines_(options.running_of_client), session_time_(options.session_time) {}

  /// Returns false, and adds nothing, if too many requests wait.
  bool push(const std::string& client, T request, Timestamp now) {
    std::size_t& of_client = waiting_[client];
    if (of_client >= options_.waiting_of_client || lines_.size() >= options_.waiting) {
      if (of_client == 0) waiting_.erase(client);
      return false;
    }
    ++of_client;
    lines_.push(client, Item{client, now, std::move(request)});
    return true;
  }

  /// Removes the request that runs next. Returns nothing if no request waits, or if all waiting
  /// requests are of clients that run as many as they may. Call `finished` after each request.
  std::optional<Item> take(Timestamp now) {
    if (lines_.turns() == 0) return std::nullopt;
    for (std::size_t left = lines_.turns(); left > 0; --left) {
      if (is_within_share(lines_.next(), now)) break;
      lines_.pass_over();
    }
    Item item = lines_.take();
    const auto of_client = waiting_.find(item.client);
    if (--of_client->second == 0) waiting_.erase(of_client);
    return item;
  }

  /// Ends a request of a client that used a session for a time.
  void finished(const std::string& client, std::chrono::milliseconds used, Timestamp now) {
    session_time_.charge(client,
                         static_cast<std::uint64_t>(std::max<std::int64_t>(used.count(), 0)), now);
    lines_.finished(client);
  }

  /// Returns the time after which a client is within its share again; zero if it is now.
  std::chrono::microseconds time_to_share(const std::string& client, Timestamp now) {
    return session_time_.next(client, now) - now;
  }

  /// The number of waiting requests.
  std::size_t size() const { return lines_.size(); }

 private:
  bool is_within_share(const std::string& client, Timestamp now) {
    return session_time_.next(client, now) <= now;
  }

  const Options options_;
  FairLines<Item, std::string, SeededHash> lines_;
  boost::unordered_flat_map<std::string, std::size_t, SeededHash> waiting_;
  Shares session_time_;
};

}  // namespace skua::xrpc
