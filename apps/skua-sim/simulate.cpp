#include "simulate.hpp"

#include <csignal>
#include <iostream>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "network_servers.hpp"

namespace skua::sim {

void simulate(const Settings& settings) {
  boost::asio::io_context io(1);
  NetworkServers servers(io, settings);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) servers.stop();
  });
  servers.start();
  std::cout << servers.ready_line().dump() << std::endl;
  io.run();
  if (!settings.dump.empty()) servers.network().dump(settings.dump);
}

}  // namespace skua::sim
