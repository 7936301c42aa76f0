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
/// answer, and throw std::runtime_error, in words for the user, when it is none.
class TapAdmin {
 public:
  /// `tap`: its address, whatever its path and scheme; an empty password: it wants none.
  TapAdmin(transport::Endpoint tap, std::string password, std::string ca_file);

  /// Tap follows these accounts from now on, or no longer. In requests of 1,000. Returns how many
  /// were told before it returned, which is all of them.
  std::size_t add(std::span<const std::string> dids) { return change("/repos/add", dids); }
  std::size_t remove(std::span<const std::string> dids) { return change("/repos/remove", dids); }

  /// What Tap knows of an account; nothing: it does not follow it.
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
