#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "serve/control_routes.hpp"
#include "serve/dns_server.hpp"
#include "serve/jetstream_session.hpp"
#include "serve/routes.hpp"
#include "serve/server.hpp"
#include "serve/site.hpp"
#include "serve/tap_host.hpp"
#include "settings.hpp"
#include "simulation.hpp"

namespace skua::sim {

/// The network with its servers.
class NetworkServers {
 public:
  NetworkServers(boost::asio::io_context& io, const Settings& settings);

  /// Starts the servers and the simulation.
  void start();
  /// Stops the servers and the simulation, so that the io_context runs out of work.
  void stop();
  Network& network() { return simulation_->network(); }
  nlohmann::ordered_json ready_line() const;
  std::string silent_did() const { return "did:web:localhost%3A" + std::to_string(silent_.port()); }

 private:
  struct Pds {
    Server server;
    std::optional<StreamHost> stream;
    std::optional<Site> site;
  };

  void make_sites();
  void make_tap(boost::asio::io_context& io);
  void make_jetstream(boost::asio::io_context& io);
  void make_labeler();
  void make_second_relay();

  const Settings& settings_;
  EventLog log_;
  FaultPlan plan_;
  Server relay_;
  Server plc_;
  Server control_;
  /// This server is never started, so that connections to it wait forever.
  Server silent_;
  DnsServer dns_;
  std::list<Pds> pdses_;
  std::vector<KnownHost> known_hosts_;
  std::optional<Simulation> simulation_;
  std::optional<Server> tap_server_;
  std::optional<TapHost> tap_;
  std::optional<Site> tap_site_;
  std::optional<Server> jetstream_server_;
  std::optional<ZstdDictionary> dictionary_;
  std::optional<JetstreamLog> jetstream_log_;
  std::optional<JetstreamHost> jetstream_;
  std::optional<Site> jetstream_site_;

  std::optional<StreamHost> relay_stream_;
  std::optional<Server> labeler_server_;
  std::optional<StreamHost> labeler_;
  std::optional<Site> labeler_site_;
  std::optional<Server> second_relay_;
  std::optional<StreamHost> second_stream_;
  std::optional<Site> second_site_;
  std::optional<ControlTargets> targets_;
  std::optional<Site> relay_site_;
  std::optional<Site> plc_site_;
  std::optional<Site> control_site_;
};

}  // namespace skua::sim
