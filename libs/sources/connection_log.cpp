#include "sources/connection_log.hpp"

#include <utility>

#include "base/log.hpp"

namespace skua::sources {

ConnectionLog::ConnectionLog(std::string log, std::string source, std::string advice)
    : log_(std::move(log)), source_(std::move(source)), advice_(std::move(advice)) {}

void ConnectionLog::on_connected() {
  failures_ = 0;
  connected_ = true;
}

void ConnectionLog::on_disconnected(const transport::Disconnection& end) {
  const bool was_connected = connected_.exchange(false);
  ++failures_;
  const double seconds = static_cast<double>(end.next_attempt_in.count()) / 1000.0;
  if (was_connected) {
    logger(log_)->warn("the connection to {} ended: {}; retrying in {:.1f} s", source_, end.reason,
                       seconds);
  } else {
    logger(log_)->warn("cannot reach {}: {}; retrying in {:.1f} s", source_, end.reason, seconds);
    if (failures_ == 1) logger(log_)->warn("{}", advice_);
  }
}

}  // namespace skua::sources
