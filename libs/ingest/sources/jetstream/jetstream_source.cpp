#include "sources/jetstream/jetstream_source.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/text.hpp"
#include "event/jetstream_message.hpp"
#include "pipeline/message_decoder.hpp"
#include "transport/errc.hpp"

namespace skua::sources {

namespace {

/// The time, in microseconds, by which a v1 stream goes back when it continues.
constexpr std::int64_t kOverlap = 5'000'000;
/// The number of names above which the names are not in the URL, because not all servers and
/// proxies accept such a long URL.
constexpr std::size_t kNamesInUrl = 50;
/// The largest numbers of names that a server accepts.
constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 10'000;

/// Whether the lists have too many names for a URL.
bool is_long(const tables::FilterContent& asked) {
  return asked.collections.size() + asked.dids.size() > kNamesInUrl;
}

void add(std::string& query, std::string_view name, std::string_view value) {
  query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, value);
}

}  // namespace

Result<pipeline::ReadMessage> JetstreamReader::read(const pipeline::AdmittedMessage& message) {
  const auto decoded = decoder_.decode(as_text(message.bytes), message_);
  if (!decoded) return decoded.error();
  pipeline::ReadMessage read{
      .events = &message_.events, .stated_at = message_.time, .made_at = message_.time};
  if (message_.lacks_record) read.gap = "a record is missing from its message";
  // After the replacement of a repository, Jetstream may send creates, but it sends no deletes.
  if (message_.kind == event::JetstreamKind::Sync) read.gap = "its repository was replaced";
  return read;
}

void JetstreamReader::count(pipeline::IntakeCounters& intake) {
  switch (message_.kind) {
    case event::JetstreamKind::Commit:
      intake.commits += 1;
      intake.ops += 1;
      if (!message_.cid_matches) intake.altered += 1;
      break;
    case event::JetstreamKind::Identity:
      intake.identities += 1;
      break;
    case event::JetstreamKind::Account:
      intake.accounts += 1;
      break;
    case event::JetstreamKind::Sync:
      intake.syncs += 1;
      break;
    case event::JetstreamKind::Info:
      intake.infos += 1;
      logger("intake")->info("{}: {}", message_.name, message_.message);
      break;
    case event::JetstreamKind::Error:
      intake.errors += 1;
      break;
    case event::JetstreamKind::Unknown:
      intake.unknown += 1;
      break;
  }
}

JetstreamIntake::JetstreamIntake(IntakeServices services, transport::Endpoint endpoint,
                                 JetstreamSource::Version version,
                                 std::shared_ptr<const transport::ZstdDictionary> dictionary)
    : Intake(std::move(services), "jetstream", endpoint.url(),
             "is the address right, and does this machine reach it (curl -I https://HOST)? v1 is "
             "at /subscribe, v2 at /xrpc/network.bsky.jetstream.subscribeEvents"),
      endpoint_(std::move(endpoint)),
      version_(version),
      dictionary_(std::move(dictionary)),
      filter_(services_.filter),
      inflate_(dictionary_.get()) {}

JetstreamIntake::~JetstreamIntake() {
  if (filter_ != nullptr) filter_->forget(this);
}

void JetstreamIntake::attach(transport::StreamClient& client) {
  client_ = &client;
  if (filter_ == nullptr) return;
  filter_->forget(this);
  filter_->listen(this, [this] { ask_anew(); });
}

transport::StreamClientOptions JetstreamIntake::stream() {
  transport::StreamClientOptions options;
  options.endpoint = endpoint_;
  options.target = [this] { return target(); };
  options.messages = transport::MessageKinds::Both;
  options.peer = "Jetstream";
  if (version_ == JetstreamSource::Version::V2) options.subprotocol = "xrpc.v1.json";
  options.may_be_silent_now = [this] { return may_be_silent(); };
  options.max_queued_bytes = std::size_t{1} << 20;
  return options;
}

bool JetstreamIntake::may_be_silent() const {
  return asked_.with([](const auto& asked) { return !asked.empty(); });
}

tables::FilterContent JetstreamIntake::wanted() const {
  if (filter_ == nullptr) return {};
  tables::FilterContent wanted = filter_->get()->content();
  // A list that the server would not accept is left out of the request only. The filter still
  // applies to the events.
  const bool is_v1 = version_ == JetstreamSource::Version::V1;
  if (wanted.collections.size() > (is_v1 ? kMostCollections : kNamesInUrl)) {
    wanted.collections.clear();
  }
  if (wanted.dids.size() > (is_v1 ? kMostDids : kNamesInUrl)) wanted.dids.clear();
  return wanted;
}

void JetstreamIntake::ask_anew() {
  if (asked_.with([now = wanted()](const auto& asked) { return asked == now; })) return;
  client_->reconnect("the filter changed, and it is to be asked for something else");
}

std::string JetstreamIntake::target() {
  const tables::FilterContent asked = wanted();
  asked_.with([&](auto& kept) { kept = asked; });
  std::string query = endpoint_.query;
  const std::string own =
      version_ == JetstreamSource::Version::V1 ? query_v1(asked) : query_v2(asked);
  if (!query.empty() && !own.empty()) query += '&';
  query += own;
  return query.empty() ? endpoint_.path : endpoint_.path + "?" + query;
}

std::string JetstreamIntake::query_v1(const tables::FilterContent& asked) const {
  std::string query;
  if (is_long(asked)) {
    add(query, "requireHello", "true");
  } else {
    for (const std::string& name : asked.collections) add(query, "wantedCollections", name);
    for (const std::string& did : asked.dids) add(query, "wantedDids", did);
  }
  if (dictionary_) add(query, "compress", "true");
  if (position_) {
    add(query, "cursor", std::to_string(std::max<std::int64_t>(1, *position_ - kOverlap)));
  }
  return query;
}

std::string JetstreamIntake::query_v2(const tables::FilterContent& asked) const {
  std::string query;
  for (const std::string& name : asked.collections) add(query, "collections", name);
  for (const std::string& did : asked.dids) add(query, "dids", did);
  if (dictionary_) add(query, "zstdDictionary", std::to_string(dictionary_->id()));
  // The cursor of v2 is inclusive.
  if (position_) add(query, "cursor", std::to_string(*position_));
  return query;
}

std::string JetstreamIntake::options_update() const {
  const auto asked = asked_.with([](const auto& kept) { return kept; });
  const nlohmann::json update = {{"type", "options_update"},
                                 {"payload",
                                  {{"wantedCollections", asked.collections},
                                   {"wantedDids", asked.dids},
                                   {"maxMessageSizeBytes", 0}}}};
  return update.dump();
}

bool JetstreamIntake::try_accept(transport::RawFrame& frame) {
  if (!frame.text && !is_plain_ && !frame.defect) {
    frame.defect = make_plain(frame.bytes);
    if (frame.defect == transport::errc::zstd_other_dictionary && !is_readable_) {
      end_ = "a message cannot be decompressed: " + frame.defect.message();
      return true;
    }
    is_plain_ = true;
  }
  if (!frame.defect) is_readable_ = true;
  event::FramePeek head;
  if (const auto peek = event::peek_jetstream(as_text(frame.bytes))) {
    if (!frame.defect && peek->kind == event::JetstreamKind::Error) {
      take_error(as_text(frame.bytes));
      is_plain_ = false;
      return true;
    }
    if (!frame.defect && peek->kind == event::JetstreamKind::Info) take_info(as_text(frame.bytes));
    head.seq = peek->cursor;
    head.did = peek->did;
    if (peek->kind == event::JetstreamKind::Commit) head.type = event::MessageType::Commit;
    if (peek->kind == event::JetstreamKind::Sync) head.type = event::MessageType::Sync;
  }
  const std::int64_t cursor = head.seq;
  if (!submit(frame, head)) return false;
  is_plain_ = false;
  if (cursor != 0) begins_after(cursor - 1);
  if (cursor != 0 && (!position_ || cursor > *position_)) position_ = cursor;
  return true;
}

ErrorCode JetstreamIntake::make_plain(Bytes& bytes) {
  // A zstd frame never begins with this character (RFC 8878, section 3.1).
  if (!as_text(bytes).starts_with('{')) {
    Bytes plain;
    if (const ErrorCode failed = inflate_.decompress(bytes, plain)) return failed;
    bytes = std::move(plain);
  }
  return is_utf8(as_text(bytes)) ? ErrorCode() : make_error_code(transport::errc::message_not_utf8);
}

void JetstreamIntake::take_error(std::string_view text) {
  services_.pipeline.count_error_frame();
  event::JetstreamDecoder decoder;
  event::JetstreamMessage message;
  if (!decoder.decode(text, message)) {
    end_ = "Jetstream sent an error without a message";
    return;
  }
  end_ = fmt::format("Jetstream sent the error {}: {}", message.name, message.message);
}

void JetstreamIntake::take_info(std::string_view text) {
  event::JetstreamDecoder decoder;
  event::JetstreamMessage message;
  if (!decoder.decode(text, message) || message.name != "OutdatedCursor") return;
  logger("jetstream")
      ->warn("{}: {}", endpoint_.url(), with_code(message.message, problem("cursor-outdated")));
  cursor_outdated();
}

void JetstreamIntake::on_connected(std::uint64_t connection) {
  Intake::on_connected(connection);
  is_plain_ = false;
  is_readable_ = false;
  if (version_ == JetstreamSource::Version::V1 && asked_.with(is_long)) {
    client_->send(connection, options_update());
  }
  // The filter may have changed while the connection was made.
  if (filter_ != nullptr) ask_anew();
  if (position_) {
    logger("jetstream")->info("connected to {}, continuing at {}", endpoint_.url(), *position_);
  } else {
    logger("jetstream")->info("connected to {}, live from now on", endpoint_.url());
  }
}

void JetstreamIntake::on_disconnected(const transport::Disconnection& end) {
  Intake::on_disconnected(end);
  if (end.http_error == "CursorTooOld") {
    logger("jetstream")
        ->warn("the events between {} and now are missing; a backfill adds them; {}",
               position_.value_or(0), with_code("live from now on", problem("cursor-outdated")));
    cursor_outdated();
    position_.reset();
  }
}

JetstreamSource::Version JetstreamSource::version() const {
  const bool is_v2 = endpoint().path.find("subscribeEvents") != std::string::npos;
  return is_v2 ? Version::V2 : Version::V1;
}

std::unique_ptr<Intake> JetstreamSource::make_intake(IntakeServices services) const {
  return std::make_unique<JetstreamIntake>(std::move(services), endpoint(), version(), dictionary_);
}

std::unique_ptr<pipeline::AnyDecoder> JetstreamSource::make_decoder(
    pipeline::DecoderServices services) const {
  return std::make_unique<pipeline::MessageDecoder>(std::make_unique<JetstreamReader>(),
                                                    std::move(services.out));
}

}  // namespace skua::sources
