#include "oracle_dump.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

Json claims_of(const Account& account) {
  Json claims = Json::object();
  for (const auto& [handle, time] : account.claims) {
    claims[handle] = time.time_since_epoch().count();
  }
  return claims;
}

Json state_of(const Population& population, const Account& account) {
  const AccountRepository& repository = account.repository;
  return {{"did", account.did},
          {"handle", account.handle},
          {"announced_handle", account.announced_handle ? Json(*account.announced_handle) : Json()},
          {"claims", claims_of(account)},
          {"handle_valid", population.handle_valid(account)},
          {"status", status_name(account.status)},
          {"announced_status",
           account.announced_status ? Json(status_name(*account.announced_status)) : Json()},
          {"active", account.status == AccountStatus::active},
          {"host", account.host},
          {"head", repository.head().to_string()},
          {"rev", repository.rev().to_string()},
          {"signing_key", account.signing_key.public_key().to_did_key()},
          {"records", repository.records()}};
}

}  // namespace

void dump_oracle(Population& population, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  Json accounts = Json::array();
  for (const std::string& did : population.dids()) {
    const Account& account = *population.find(did);
    const auto car = account.repository.car({});
    if (!car) throw std::runtime_error("a dump needs a network that keeps its records");
    write_file(directory / (did + ".car"), as_text(*car));
    accounts.push_back(state_of(population, account));
  }
  write_file(directory / "accounts.json", accounts.dump(1) + "\n");
}

}  // namespace skua::sim
