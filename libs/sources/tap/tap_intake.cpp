#include "sources/tap/tap_intake.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "event/tap_message.hpp"
#include "transport/basic_authorization.hpp"
#include "transport/errc.hpp"

namespace skua::sources {
namespace {

/// All that may be in flight can be acknowledged at once: 100,000 of 40 bytes.
constexpr std::size_t kQueuedAckBytes = 8 * 1024 * 1024;

}  // namespace

TapIntake::TapIntake(IntakeServices services, transport::Endpoint endpoint, std::string password)
    : Intake(std::move(services), "tap", endpoint.url(),
             "is the address right, does Tap run there (GET /health), and not in webhook mode? its "
             "password goes into a file for --tap-password-file"),
      endpoint_(std::move(endpoint)),
      password_(std::move(password)),
      ledger_([this](std::span<const std::int64_t> ids) { return send(ids); }) {}

transport::StreamClientOptions TapIntake::stream() {
  transport::StreamClientOptions options;
  options.endpoint = endpoint_;
  options.messages = transport::MessageKinds::Both;
  options.peer = "Tap";
  // It says nothing as long as nothing happens, and does not ping.
  options.may_be_silent = true;
  options.max_queued_bytes = kQueuedAckBytes;
  if (!password_.empty()) {
    options.headers.push_back(
        {"Authorization", transport::basic_authorization("admin", password_)});
  }
  return options;
}

bool TapIntake::try_accept(transport::RawFrame& frame) {
  if (closed_) return false;
  if (!frame.text && !frame.defect && !is_utf8(as_text(frame.bytes))) {
    frame.defect = transport::errc::message_not_utf8;
  }
  const auto peek = event::peek_tap(as_text(frame.bytes));
  const std::int64_t now = frame.received_at.time_since_epoch().count();
  const std::int64_t arrival = std::max(arrival_ + 1, now);
  // Without an id it cannot be acknowledged; it is stored all the same, as a dead letter.
  event::FramePeek head;
  head.seq = arrival;
  if (peek) head.did = peek->did;
  if (!submit(frame, head, [&](ingest::Pipeline::Ticket ticket) {
        if (peek) ledger_.expect(ticket, peek->id);
      })) {
    return false;
  }
  arrival_ = arrival;
  return true;
}

std::size_t TapIntake::send(std::span<const std::int64_t> ids) {
  std::size_t taken = 0;
  for (const std::int64_t id : ids) {
    if (client_->send(connection_, event::tap_ack(id)) == transport::SendOutcome::Full) break;
    ++taken;
  }
  return taken;
}

void TapIntake::on_connected(std::uint64_t connection) {
  connection_ = connection;
  Intake::on_connected(connection);
  logger("tap")->info("connected to {}", endpoint_.url());
}

void TapIntake::on_disconnected(const transport::Disconnection& end) {
  ledger_.connection_ended();
  Intake::on_disconnected(end);
}

}  // namespace skua::sources
