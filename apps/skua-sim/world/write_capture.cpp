#include "write_capture.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "message.hpp"
#include "transport/capture.hpp"

namespace skua::sim {
namespace {

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

/// One at a time, because the accounts of a large network would need much memory.
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
