#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "documents/made_document.hpp"
#include "transport/loopback_server.hpp"

namespace skua::test {

/// A PLC directory on loopback that gives every DID a document, unless it is told otherwise, and
/// counts what it is asked.
class PlcServer {
 public:
  PlcServer() {
    LoopbackServer::Options options;
    options.http = [this](const LoopbackServer::HttpRequest& request) {
      return answer(std::string(request.target().substr(1)));
    };
    server_ = std::make_unique<LoopbackServer>(options);
  }

  ~PlcServer() {
    release();
    server_.reset();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

  /// Answers about a DID this from now on; empty: its document again.
  void reply_with(const std::string& did, std::string reply) {
    const std::scoped_lock lock(mutex_);
    replies_[did] = std::move(reply);
  }

  /// From now on requests are counted, but wait for their answer until `release`.
  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }

  void wait_for_requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_.size() >= count; });
  }

  std::vector<std::string> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  std::size_t count() const { return asked().size(); }
  std::size_t most_at_once() const {
    const std::scoped_lock lock(mutex_);
    return most_;
  }

 private:
  std::string answer(const std::string& did) {
    std::unique_lock lock(mutex_);
    asked_.push_back(did);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    --inside_;
    if (const auto reply = replies_.find(did); reply != replies_.end() && !reply->second.empty()) {
      return reply->second;
    }
    return http_reply(200, made_document(did).dump());
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> replies_;
  std::vector<std::string> asked_;
  bool held_ = false;
  std::size_t inside_ = 0;
  std::size_t most_ = 0;
  std::unique_ptr<LoopbackServer> server_;
};

}  // namespace skua::test
