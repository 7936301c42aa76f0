#include "transport/impl/connection_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <sys/socket.h>
#include <utility>

#include "transport/address_guard.hpp"

namespace skua::transport::impl {

namespace {

/// Whether an idle connection has received nothing: neither its end nor bytes that would be read as
/// the next answer.
bool is_quiet(Connection& connection) {
  char byte = 0;
  const auto got =
      ::recv(connection.stream.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace

ConnectionPool::ConnectionPool(const Executor& executor, std::chrono::milliseconds idle_timeout,
                               std::size_t of_one_origin, std::size_t in_all)
    : idle_timeout_(idle_timeout),
      of_one_origin_(of_one_origin),
      in_all_(in_all),
      timer_(executor) {}

std::unique_ptr<Connection> ConnectionPool::take(const Endpoint& url, bool any_address) {
  std::unique_ptr<Connection> found;
  for (auto idle = idle_.end(); idle != idle_.begin() && !found;) {
    --idle;
    auto& connection = *idle->connection;
    if (!connection.leads_to(url) || !(any_address || is_public(connection.address))) continue;
    if (is_quiet(connection)) found = std::move(idle->connection);
    idle = idle_.erase(idle);
  }
  return found;
}

void ConnectionPool::put(std::unique_ptr<Connection> connection) {
  if (closed_ || idle_timeout_ <= idle_timeout_.zero()) return;
  make_room(*connection);
  const auto until = std::chrono::steady_clock::now() + idle_timeout_;
  idle_.push_back(Idle{std::move(connection), until});
  if (idle_.size() == 1) wait();
}

void ConnectionPool::make_room(const Connection& connection) {
  const auto of_same_origin = [&connection](const Idle& idle) {
    return idle.connection->secure == connection.secure &&
           idle.connection->port == connection.port && idle.connection->host == connection.host;
  };
  const auto count = std::count_if(idle_.begin(), idle_.end(), of_same_origin);
  if (count > 0 && static_cast<std::size_t>(count) >= of_one_origin_) {
    idle_.erase(std::find_if(idle_.begin(), idle_.end(), of_same_origin));
  } else if (idle_.size() >= in_all_) {
    idle_.pop_front();
  }
}

void ConnectionPool::wait() {
  // The timer is for the oldest connection. If the timer fires too early, the callback waits again.
  timer_.expires_at(idle_.front().until);
  timer_.async_wait([this](ErrorCode cancelled) {
    if (cancelled) return;
    const auto now = std::chrono::steady_clock::now();
    while (!idle_.empty() && idle_.front().until <= now) idle_.pop_front();
    if (!idle_.empty()) wait();
  });
}

void ConnectionPool::close() {
  closed_ = true;
  idle_.clear();
  timer_.cancel();
}

}  // namespace skua::transport::impl
