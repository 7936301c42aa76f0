#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"

namespace skua::cli {

/// The admin routes of a Tap (github.com/bluesky-social/indigo, cmd/tap). Functions wait for the
/// answer. If it is an error, they throw std::runtime_error with a message for the user.
class TapAdmin {
 public:
  /// `tap`: its address, path and scheme are ignored; an empty password: none.
  TapAdmin(transport::Endpoint tap, std::string password, std::string ca_file);

  /// Makes Tap follow these accounts, or stop following them, in requests of 1,000. Returns the
  /// number of accounts, which is all of them.
  std::size_t add(std::span<const std::string> dids) { return change("/repos/add", dids); }
  std::size_t remove(std::span<const std::string> dids) { return change("/repos/remove", dids); }

  /// The state of an account in Tap; nothing: Tap does not follow it.
  std::optional<nlohmann::ordered_json> info(const std::string& did);

  /// All of /stats, by name.
  nlohmann::ordered_json stats();

 private:
  std::size_t change(const char* path, std::span<const std::string> dids);
  transport::HttpAnswer ask(const std::string& path, std::optional<std::string> json);
  nlohmann::ordered_json read(const std::string& path, const transport::HttpAnswer& answer);

  const std::string origin_;
  const std::string password_;
  transport::HttpClient client_;
};

}  // namespace skua::cli
