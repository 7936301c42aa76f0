#include "transport/impl/connection_pool.hpp"

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "transport/endpoint.hpp"

namespace skua::transport::impl::connection_pool_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Connections to a listener on loopback that are said to lead elsewhere.
class ConnectionPoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> connected(const std::string& url, const std::string& address) {
    auto connection = std::make_unique<Connection>(io_.get_executor(), *parse_http_url(url));
    connection->stream.socket().connect(listener_.local_endpoint());
    connection->address = asio::ip::make_address(address);
    return connection;
  }

  asio::io_context io_;
  Tcp::acceptor listener_{io_, {asio::ip::make_address_v4("127.0.0.1"), 0}};
  ConnectionPool pool_{io_.get_executor(), 10s, 4, 64};
};

TEST_F(ConnectionPoolTest, gives_what_leads_to_the_public_to_anybody) {
  const auto url = *parse_http_url("http://pds.example");
  for (const auto* address : {"8.8.8.8", "2606:4700::1"}) {
    for (const bool any : {false, true}) {
      pool_.put(connected("http://pds.example/path", address));
      EXPECT_NE(pool_.take(url, any), nullptr) << address;
      EXPECT_EQ(pool_.take(url, true), nullptr);
    }
  }
}

TEST_F(ConnectionPoolTest, keeps_what_leads_elsewhere_from_the_network) {
  const auto url = *parse_http_url("http://pds.example");
  for (const auto* address : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1"}) {
    pool_.put(connected("http://pds.example", address));
    EXPECT_EQ(pool_.take(url, false), nullptr) << address;
    EXPECT_NE(pool_.take(url, true), nullptr) << address;
  }
}

TEST_F(ConnectionPoolTest, tells_origins_apart) {
  pool_.put(connected("http://pds.example:81", "8.8.8.8"));
  for (const auto* url : {"http://pds.example", "https://pds.example:81", "http://a.example:81"}) {
    EXPECT_EQ(pool_.take(*parse_http_url(url), true), nullptr) << url;
  }
  EXPECT_NE(pool_.take(*parse_http_url("http://PDS.example:81/path"), true), nullptr);
}

TEST_F(ConnectionPoolTest, drops_what_has_ended_or_says_more) {
  const auto url = *parse_http_url("http://pds.example");
  for (const bool more : {false, true}) {
    auto connection = connected("http://pds.example", "8.8.8.8");
    auto* socket = &connection->stream.socket();
    auto peer = listener_.accept();
    pool_.put(std::move(connection));
    if (more) peer.send(asio::buffer("x", 1));
    peer.shutdown(asio::socket_base::shutdown_send);
    socket->wait(asio::socket_base::wait_read);
    EXPECT_EQ(pool_.take(url, true), nullptr);
  }
}

TEST_F(ConnectionPoolTest, lets_the_event_loop_end_when_it_is_closed) {
  pool_.put(connected("http://pds.example", "8.8.8.8"));
  pool_.close();
  pool_.put(connected("http://pds.example", "8.8.8.8"));
  io_.run_for(20s);
  EXPECT_TRUE(io_.stopped());
  EXPECT_EQ(pool_.take(*parse_http_url("http://pds.example"), true), nullptr);
}

}  // namespace
}  // namespace skua::transport::impl::connection_pool_test
