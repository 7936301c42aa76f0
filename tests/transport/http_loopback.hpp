#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/http_client.hpp"
#include "transport/loopback_server.hpp"

namespace skua::test {

constexpr auto kLong = std::chrono::seconds(20);

inline std::unique_ptr<LoopbackServer> http_server(LoopbackServer::HttpScript script) {
  LoopbackServer::Options options;
  options.http = std::move(script);
  return std::make_unique<LoopbackServer>(options);
}

/// Goes on with a connection after an answer; `kept_reply` is meant for it.
inline std::unique_ptr<LoopbackServer> keeping_server(LoopbackServer::HttpScript script) {
  LoopbackServer::Options options;
  options.http = std::move(script);
  options.keep_alive = true;
  return std::make_unique<LoopbackServer>(options);
}

inline std::unique_ptr<LoopbackServer> raw_server(LoopbackServer::RawScript script) {
  LoopbackServer::Options options;
  options.raw = std::move(script);
  return std::make_unique<LoopbackServer>(options);
}

inline std::string url_of(const LoopbackServer& server, const std::string& host = "127.0.0.1") {
  return "http://" + host + ":" + std::to_string(server.port());
}

/// Every name leads to the loopback server.
inline Result<std::vector<std::string>> loopback_lookup(const std::string&) {
  return std::vector<std::string>{"127.0.0.1"};
}

inline transport::HttpClientOptions private_allowed() {
  transport::HttpClientOptions options;
  options.allow_private_hosts = true;
  options.lookup = loopback_lookup;
  return options;
}

inline transport::HttpRequest request(const std::string& url) {
  transport::HttpRequest request;
  request.url = url;
  return request;
}

/// The error of one request to the network, by a client of its own.
inline ErrorCode failure(const transport::HttpClientOptions& options, const std::string& url) {
  transport::HttpClient client(options);
  const auto answer = client.send(request(url));
  return answer ? ErrorCode() : answer.error();
}

}  // namespace skua::test
