#include "serve/jetstream_log.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "records/json_text.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::sim {
namespace {

constexpr std::string_view kType = "network.bsky.jetstream.subscribeEvents";

void add_text(std::string& out, std::string_view before, std::string_view text) {
  out += before;
  records::append_json_string(out, text, records::Nul::Escape);
}

/// Returns the part of the frame that all kinds share. The kind's own part and the closing `}}` are
/// missing.
std::string v2_begin(const JetstreamEvent& event, Timestamp time) {
  auto out = fmt::format(R"({{"$type":"message","payload":{{"$type":"{}#{}","seq":{})", kType,
                         event.kind, event.seq);
  add_text(out, R"(,"did":)", event.did);
  add_text(out, R"(,"time":)", format_datetime(time));
  add_text(out, R"(,"witnessedAt":)", format_datetime(time));
  return out;
}

/// Returns the v2 form of an event. v1 nests these fields below the name of the kind; v2 does not
/// have this `"commit":{`.
std::string v2_of(const JetstreamEvent& event, Timestamp time) {
  auto out = v2_begin(event, time);
  const auto name = fmt::format(R"("{}":{{)", event.kind);
  const auto place = event.v1.find("," + name);
  if (event.kind == "commit") {
    // The text {"rev":...}} becomes ,"rev":...}
    out += ',';
    out.append(event.v1, place + 1 + name.size(), std::string::npos);
    out.pop_back();
    out += '}';
  } else {
    out.append(event.v1, place, std::string::npos);
    out += '}';
  }
  return out;
}

}  // namespace

void JetstreamLog::hear(std::size_t host, const Message& message) {
  if (!message.honest || message.did.empty()) return;
  const auto account = network_.account(message.did);
  if (!account || account->host != host) return;
  const auto bytes = numbered(message, ++heard_);
  event::DecodedFrame frame;
  if (!decoder_.decode(bytes, frame)) return;
  if (frame.type == event::MessageType::Sync) return add_sync(frame, bytes);
  for (const auto& event : frame.events) {
    JetstreamEvent told;
    told.time_us = next_time_us(frame);
    const Timestamp time{std::chrono::microseconds(told.time_us)};
    if (!writer_.append(told.v1, event, time)) continue;
    told.did = event.did;
    told.seq = end();
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      told.kind = "commit";
      told.collection = change->collection;
    } else {
      told.kind =
          std::holds_alternative<event::IdentityChange>(event.body) ? "identity" : "account";
    }
    told.v2 = v2_of(told, time);
    add(std::move(told));
  }
}

void JetstreamLog::add_sync(const event::DecodedFrame& frame, ByteView bytes) {
  // A frame is a header and a body, one DAG-CBOR value after the other. v2 has the whole body as
  // JSON, because a #sync message has no decoded events.
  atproto::Document header;
  const auto header_size = repo::read_dag_cbor_prefix(bytes, header);
  if (!header_size) return;
  if (!repo::read_dag_cbor_prefix(bytes.subspan(*header_size), sync_body_)) return;
  JetstreamEvent told;
  told.kind = "sync";
  told.did = frame.did;
  told.seq = end();
  told.time_us = next_time_us(frame);
  told.v2 = v2_begin(told, Timestamp{std::chrono::microseconds(told.time_us)});
  told.v2 += R"(,"sync":)";
  records::append_json(told.v2, sync_body_.root(), records::Nul::Escape);
  told.v2 += "}}";  // closes the payload and the frame
  add(std::move(told));
}

std::int64_t JetstreamLog::next_time_us(const event::DecodedFrame& frame) const {
  return std::max(last_time_us_ + 1, frame.time.time_since_epoch().count());
}

void JetstreamLog::add(JetstreamEvent event) {
  last_time_us_ = event.time_us;
  bytes_ += event.v1.size() + event.v2.size();
  events_.push_back(std::move(event));
  while (bytes_ > window_bytes_ && events_.size() > 1) {
    bytes_ -= events_.front().v1.size() + events_.front().v2.size();
    events_.pop_front();
    ++begin_;
  }
  for (const auto& [number, wake] : readers_) wake();
}

std::int64_t JetstreamLog::seq_at(std::int64_t time_us) const {
  const auto found = std::ranges::lower_bound(events_, time_us, {}, &JetstreamEvent::time_us);
  return begin_ + (found - events_.begin());
}

}  // namespace skua::sim
