#include "network_servers.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <unistd.h>
#include <vector>

#include "serve/routes.hpp"
#include "serve/stream_session.hpp"
#include "serve/tap_host.hpp"
#include "world/labeler.hpp"

namespace skua::sim {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

NetworkServers::NetworkServers(boost::asio::io_context& io, const Settings& settings)
    : settings_(settings),
      log_(settings.log),
      plan_(settings.faults, settings.fault_rates, settings.simulation.network.seed,
            std::chrono::steady_clock::now()),
      relay_(io, settings.port, nullptr),
      plc_(io, 0, nullptr),
      control_(io, 0, nullptr),
      silent_(io, 0, nullptr),
      dns_(io, 0) {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < settings.simulation.network.hosts; ++i) {
    const auto& pds = pdses_.emplace_back(Pds{Server(io, 0, nullptr), {}, {}});
    urls.push_back("http://" + pds.server.address());
  }
  auto simulated = settings.simulation;
  simulated.silent_did = silent_did();
  if (settings.has_labeler) {
    labeler_server_.emplace(io, std::uint16_t{0}, nullptr);
    simulated.network.labeler_url = "http://" + labeler_server_->address();
  }
  simulation_.emplace(io, simulated, urls, plan_, log_);
  simulation_->on_restart([this] { relay_.drop_connections(); });
  if (settings.simulation.second_relay) second_relay_.emplace(io, std::uint16_t{0}, nullptr);
  if (settings.has_tap) make_tap(io);
  if (settings.has_jetstream) make_jetstream(io);
  simulation_->on_message([this](std::size_t host, const Message& message) {
    if (tap_) tap_->hear(host, message);
    if (jetstream_log_) jetstream_log_->hear(host, message);
  });
  make_sites();
}

void NetworkServers::make_tap(boost::asio::io_context& io) {
  auto& network = simulation_->network();
  tap_server_.emplace(io, std::uint16_t{0}, nullptr);
  tap_.emplace(io, network, settings_.tap, SessionHost{log_, "tap", &plan_});
  tap_->on_restart([this] { tap_server_->drop_connections(); });
  simulation_->on_tap_fault([this](const Fault& fault) { return tap_->inject(fault); });
  tap_site_.emplace(Site{"tap",
                         log_,
                         tap_routes(*tap_, network, simulation_->relay()),
                         {{"/channel", offer_channel(*tap_)}},
                         &plan_,
                         settings_.tap.password});
}

void NetworkServers::make_jetstream(boost::asio::io_context& io) {
  jetstream_server_.emplace(io, std::uint16_t{0}, nullptr);
  if (!settings_.jetstream_dictionary.empty()) dictionary_.emplace(settings_.jetstream_dictionary);
  jetstream_log_.emplace(simulation_->network(), settings_.simulation.window_bytes);
  jetstream_.emplace(JetstreamHost{
      *jetstream_log_, dictionary_ ? &*dictionary_ : nullptr, {log_, "jetstream", &plan_}});
  jetstream_site_.emplace(Site{"jetstream",
                               log_,
                               jetstream_routes(*jetstream_),
                               {{std::string(kJetstreamV1Path), offer_jetstream_v1(*jetstream_)},
                                {std::string(kJetstreamV2Path), offer_jetstream_v2(*jetstream_)}},
                               &plan_});
}

void NetworkServers::make_sites() {
  auto& network = simulation_->network();
  auto pds_behaviour = settings_.behaviour;
  pds_behaviour.future_cursor_error = true;
  pds_behaviour.outdated_cursor_info = true;
  relay_stream_.emplace(
      StreamHost{simulation_->relay(), settings_.behaviour, {log_, "relay", &plan_}});
  targets_.emplace(ControlTargets{
      *simulation_, plan_, {&*relay_stream_}, tap_ ? &*tap_ : nullptr, {{*relay_stream_, relay_}}});
  std::size_t number = 0;
  for (auto& pds : pdses_) {
    const auto name = "pds" + std::to_string(number);
    const auto url = "http://" + pds.server.address();
    auto& messages = simulation_->host(number);
    pds.stream.emplace(StreamHost{messages, pds_behaviour, {log_, name, nullptr}});
    pds.site.emplace(Site{name,
                          log_,
                          pds_routes(network, number, url, settings_.largest_page),
                          {{std::string(kStreamPath), offer_stream(*pds.stream)}},
                          &plan_});
    pds.site->delay = settings_.pds_delay;
    targets_->streams.push_back(&*pds.stream);
    targets_->pds_loads.push_back(&pds.site->load);
    known_hosts_.push_back({pds.server.address(), url, messages});
    ++number;
  }
  relay_site_.emplace(Site{"relay",
                           log_,
                           relay_routes(network, known_hosts_, settings_.largest_page),
                           {{std::string(kStreamPath), offer_stream(*relay_stream_)}},
                           &plan_});
  if (second_relay_) make_second_relay();
  if (labeler_server_) make_labeler();
  plc_site_.emplace(Site{"plc", log_, plc_routes(network), {}, &plan_});
  plc_site_->delay = settings_.plc_delay;
  targets_->plc_load = &plc_site_->load;
  control_site_.emplace(Site{"control", log_, control_routes(*targets_)});
}

void NetworkServers::make_labeler() {
  auto behaviour = settings_.behaviour;
  behaviour.future_cursor_error = true;
  labeler_.emplace(
      StreamHost{simulation_->network().labeler()->log(), behaviour, {log_, "labeler", &plan_}});
  labeler_site_.emplace(Site{"labeler",
                             log_,
                             labeler_routes(),
                             {{std::string(kLabelStreamPath), offer_stream(*labeler_)}},
                             &plan_});
  targets_->streams.push_back(&*labeler_);
  targets_->labeler.emplace(SteeredRelay{*labeler_, *labeler_server_});
}

void NetworkServers::make_second_relay() {
  second_stream_.emplace(
      StreamHost{*simulation_->second_relay(), settings_.behaviour, {log_, "relay2", nullptr}});
  second_site_.emplace(
      Site{"relay2",
           log_,
           relay_routes(simulation_->network(), known_hosts_, settings_.largest_page),
           {{std::string(kStreamPath), offer_stream(*second_stream_)}},
           &plan_});
  targets_->streams.push_back(&*second_stream_);
  targets_->relays.push_back({*second_stream_, *second_relay_});
}

void NetworkServers::start() {
  relay_.start(*relay_site_);
  if (second_relay_) second_relay_->start(*second_site_);
  plc_.start(*plc_site_);
  control_.start(*control_site_);
  for (auto& pds : pdses_) pds.server.start(*pds.site);
  if (tap_) {
    tap_server_->start(*tap_site_);
    tap_->start();
  }
  if (jetstream_) jetstream_server_->start(*jetstream_site_);
  if (labeler_) labeler_server_->start(*labeler_site_);
  dns_.start({simulation_->network(), log_});
  simulation_->start();
}

void NetworkServers::stop() {
  simulation_->stop();
  relay_.stop();
  if (second_relay_) second_relay_->stop();
  plc_.stop();
  control_.stop();
  silent_.stop();
  dns_.stop();
  if (tap_) {
    tap_->stop();
    tap_server_->stop();
  }
  if (jetstream_) jetstream_server_->stop();
  if (labeler_) labeler_server_->stop();
  for (auto& pds : pdses_) pds.server.stop();
}

nlohmann::ordered_json NetworkServers::ready_line() const {
  Json hosts = Json::array();
  for (const auto& host : known_hosts_) hosts.push_back(host.url);
  Json line = {{"url", "ws://" + relay_.address()},
               {"relay", "http://" + relay_.address()},
               {"plc", "http://" + plc_.address()},
               {"hosts", hosts},
               {"control", "http://" + control_.address()},
               {"dns", dns_.address()},
               {"seed", settings_.simulation.network.seed},
               {"pid", ::getpid()},
               {"silent_did", silent_did()}};
  if (second_relay_) line["second_relay"] = "ws://" + second_relay_->address();
  if (tap_) line["tap"] = "http://" + tap_server_->address();
  if (labeler_) line["labeler"] = "ws://" + labeler_server_->address();
  if (jetstream_) line["jetstream"] = "ws://" + jetstream_server_->address();
  return line;
}

}  // namespace skua::sim
