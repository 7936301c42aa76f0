#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/label.hpp"
#include "records/record.hpp"
#include "records/reference.hpp"

namespace skua::event {

using records::RecordType;

/// Whether an event is live or from a backfill. Live events have priority.
enum class EventSource : std::uint8_t { Live, Backfill };

/// One queue of work, which three workers share.
struct Lane {
  EventSource source = EventSource::Live;
  RecordType type = RecordType::Metadata;
  friend bool operator==(const Lane&, const Lane&) = default;
};

enum class Operation : std::uint8_t { Create, Update, Delete };

/// A create, update or delete of one record, as the commit describes it.
struct RecordChange {
  Operation operation = Operation::Create;
  std::string collection;
  std::string rkey;
  std::optional<atproto::Cid> cid;  // absent on delete
  atproto::Tid rev;
  /// The record's DAG-CBOR, empty on delete. `record` has views into the block, so move a
  /// RecordChange and never copy it.
  Bytes block;
  /// Whether `block` is in the canonical form of DAG-CBOR. It is not if, for example, its keys are
  /// out of order.
  bool is_canonical = true;
  /// The number of values in the record, including nested values.
  std::uint32_t values = 0;
  records::Decoded record;

  RecordChange() = default;
  RecordChange(RecordChange&&) noexcept = default;
  RecordChange& operator=(RecordChange&&) noexcept = default;
  RecordChange(const RecordChange&) = delete;
  RecordChange& operator=(const RecordChange&) = delete;
};

/// An `#identity` message: the handle or the keys may have changed. `handle` comes from the
/// account's host or document; an empty text means that the handle is unknown.
struct IdentityChange {
  std::optional<std::string> handle;
  Timestamp time;
};

/// Returns the handle of an `#identity` message in lower case, or nothing if it is malformed. The
/// handle is only a hint, so a malformed handle counts as absent.
std::optional<std::string> handle_hint(std::string_view text);

/// An `#account` message: the account's hosting status at the host that sent the message.
struct AccountChange {
  /// False if the account is hidden (atproto::hides).
  bool active = true;
  std::string status;  // empty if the host sent no status
  Timestamp time;
  /// Whether the account was deleted permanently, so that all its rows must be deleted.
  bool purge = false;
  /// The newest revision before this change, or 0 if it is unknown.
  atproto::Tid last_rev{};
};

/// Input that cannot become rows. It is stored in `skua.dead_letter` with its bytes.
struct Rejection {
  /// The rejected item: the path of an operation, the position of a label, or the message type of a
  /// whole frame.
  std::string what;
  /// The reason, for people.
  std::string error;
  Bytes payload = {};
  /// The operation, if the rejected item is a record and its operation is known.
  std::optional<Operation> operation = std::nullopt;
  atproto::Tid rev{};
  /// The CID of the record if the payload is the record, otherwise nothing.
  std::optional<atproto::Cid> cid = std::nullopt;
};

/// A label that a labeler set or withdrew. The references of its subject are resolved in place.
struct LabelChange {
  /// The label's DAG-CBOR. `label` has views into the block, so move a LabelChange and never copy
  /// it.
  Bytes block;
  Label label;
  /// The label's position in its frame, which distinguishes the labels of the frame.
  std::uint32_t place = 0;

  LabelChange() = default;
  LabelChange(LabelChange&&) noexcept = default;
  LabelChange& operator=(LabelChange&&) noexcept = default;
  LabelChange(const LabelChange&) = delete;
  LabelChange& operator=(const LabelChange&) = delete;
};

/// `Rejection::what` of a label begins with this prefix.
inline constexpr std::string_view kLabelPath = "labels/";
/// Returns `Rejection::what` of a label, for example `labels/3`.
std::string label_path(std::uint32_t place);

/// The result of decoding: one change of one account, which names other accounts by DID and AT-URI.
/// An event has one owner; it moves from thread to thread and is never copied.
struct UnresolvedEvent {
  std::string did;
  EventSource source = EventSource::Live;
  RecordType type = RecordType::Metadata;
  /// The host's sequence number of the frame that contained the event.
  std::int64_t seq = 0;
  /// The position of the event's frame in the in-flight list. The pipeline sets it.
  std::uint64_t ticket = 0;
  /// The source within the process that sent the event (writer/worker_services.hpp). The pipeline
  /// sets it.
  std::uint32_t origin = 0;
  std::variant<RecordChange, IdentityChange, AccountChange, LabelChange, Rejection> body;

  Lane lane() const { return {source, type}; }
  /// Returns `at://did/collection/rkey` for a record change, otherwise `at://did`.
  std::string at_uri() const;
};

/// Returns false if the event has a record whose block is not in the canonical form of DAG-CBOR.
inline bool is_canonical(const UnresolvedEvent& event) {
  const auto* change = std::get_if<RecordChange>(&event.body);
  return change == nullptr || change->is_canonical;
}

}  // namespace skua::event
