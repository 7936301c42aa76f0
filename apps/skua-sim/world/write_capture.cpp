#include "world/write_capture.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "transport/capture.hpp"
#include "world/message_log.hpp"

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

constexpr std::uint64_t kStepsBetweenReports = 4096;

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

std::vector<std::string> made_up_hosts(std::size_t count) {
  std::vector<std::string> urls;
  for (std::size_t number = 1; number <= count; ++number) {
    std::string url = "https://host";
    url += std::to_string(number);
    url += ".test";
    urls.push_back(std::move(url));
  }
  return urls;
}

/// Writes the documents one at a time, because the accounts of a large network would need much
/// memory.
void write_documents(const Network& network, const std::filesystem::path& file) {
  std::ofstream out(file);
  const char* separator = "[";
  for (const std::string& did : network.dids()) {
    const auto document = network.did_document(did);
    if (document.is_null()) continue;
    out << separator << document.dump();
    separator = ",\n";
  }
  out << (*separator == '[' ? "[]\n" : "]\n");
  if (!out.flush()) throw std::runtime_error(file.string() + " cannot be written");
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

CaptureReport write_capture(const CaptureSettings& settings,
                            const std::function<void(const CaptureReport&)>& progress) {
  if (std::filesystem::exists(settings.file)) {
    throw std::runtime_error(settings.file.string() + " is there already");
  }
  transport::CaptureWriter capture(settings.file);
  CaptureReport report;
  const auto publish = [&](std::size_t /*host*/, const std::shared_ptr<const Message>& message) {
    ++report.frames;
    const Bytes frame = numbered(*message, static_cast<std::int64_t>(report.frames));
    report.bytes += frame.size();
    capture.append(frame);
  };

  NetworkSettings network_settings = settings.network;
  network_settings.keep_records = !settings.dump.empty();
  const auto preparing = SteadyClock::now();
  Network network(network_settings, made_up_hosts(network_settings.hosts), settings.start, publish);
  report.preparing_seconds = seconds_since(preparing);

  const auto begin = SteadyClock::now();
  for (std::uint64_t steps = 0; report.events < settings.events; ++steps) {
    const std::chrono::duration<double> elapsed(static_cast<double>(steps) /
                                                settings.steps_per_second);
    report.events += network.step(settings.start +
                                  std::chrono::duration_cast<std::chrono::microseconds>(elapsed));
    if (progress && steps % kStepsBetweenReports == 0) {
      report.seconds = seconds_since(begin);
      progress(report);
    }
  }
  capture.flush();
  report.seconds = seconds_since(begin);
  if (!settings.dump.empty()) network.dump(settings.dump);
  if (!settings.did_docs.empty()) write_documents(network, settings.did_docs);
  return report;
}

}  // namespace skua::sim
