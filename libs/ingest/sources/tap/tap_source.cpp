#include "sources/tap/tap_source.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "event/tap_message.hpp"
#include "pipeline/message_decoder.hpp"
#include "transport/errc.hpp"
#include "transport/http_client.hpp"

namespace skua::sources {

namespace {

/// The limit permits the acknowledgement of all messages that may be in flight at once: 100,000 of
/// 40 bytes.
constexpr std::size_t kQueuedAckBytes = 8 * 1024 * 1024;

}  // namespace

void AckLedger::expect(Ticket ticket, std::int64_t id) {
  const std::scoped_lock lock(mutex_);
  ids_.emplace(ticket, id);
}

void AckLedger::finished(std::span<const Ticket> tickets) {
  const std::scoped_lock lock(mutex_);
  for (const Ticket ticket : tickets) {
    const auto found = ids_.find(ticket);
    if (found == ids_.end()) continue;
    ready_.push_back(found->second);
    ids_.erase(found);
  }
  send();
}

void AckLedger::connection_ended() {
  const std::scoped_lock lock(mutex_);
  forgotten_ += ids_.size() + ready_.size();
  ids_.clear();
  ready_.clear();
}

AckLedger::Counters AckLedger::metrics() const {
  const std::scoped_lock lock(mutex_);
  return {ids_.size(), ready_.size(), acknowledged_, forgotten_};
}

void AckLedger::send() {
  if (ready_.empty()) return;
  const std::size_t taken = std::min(send_(ready_), ready_.size());
  acknowledged_ += taken;
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(taken));
}

Result<pipeline::ReadMessage> TapReader::read(const pipeline::AdmittedMessage& message) {
  const auto decoded = decoder_.decode(as_text(message.bytes), message.received_at, message_);
  if (!decoded) return decoded.error();
  // The message has no time, because Tap does not say when a message was made.
  pipeline::ReadMessage read{.events = &message_.events};
  // The repository is downloaded again, because Skua may be able to decode the record that Tap left
  // out.
  if (message_.lacks_record) read.gap = "a record is missing from its message";
  for (event::UnresolvedEvent& event : message_.events) {
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      // A tombstone is kept until the cursor has passed this number.
      event.seq = message.seq;
      if (event.source == event::EventSource::Live) read.made_at = change->rev.time();
    }
  }
  return read;
}

void TapReader::count(pipeline::IntakeCounters& intake) {
  switch (message_.type) {
    case event::TapType::Record:
      intake.commits += 1;
      intake.ops += 1;
      if (!message_.cid_matches) intake.altered += 1;
      break;
    case event::TapType::Identity:
      intake.identities += 1;
      intake.accounts += 1;
      break;
    case event::TapType::Unknown:
      intake.unknown += 1;
      break;
  }
}

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
  // Tap sends nothing while nothing happens, and does not ping.
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
  // A message without an id cannot be acknowledged, but it is stored as a dead letter.
  event::FramePeek head;
  head.seq = arrival;
  if (peek) head.did = peek->did;
  if (!submit(frame, head, [&](pipeline::Pipeline::Ticket ticket) {
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

std::unique_ptr<Intake> TapSource::make_intake(IntakeServices services) const {
  return std::make_unique<TapIntake>(std::move(services), endpoint(), password_);
}

std::unique_ptr<pipeline::AnyDecoder> TapSource::make_decoder(
    pipeline::DecoderServices services) const {
  return std::make_unique<pipeline::MessageDecoder>(std::make_unique<TapReader>(),
                                                    std::move(services.out));
}

}  // namespace skua::sources
