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

/// Whether an event is live or from a backfill. Live events go first.
enum class EventSource : std::uint8_t { Live, Backfill };

/// One queue of work, for three workers.
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
  /// The record's DAG-CBOR, empty on delete. `record` holds views into it: move, never copy.
  Bytes block;
  /// False: `block` is not in the canonical form of DAG-CBOR; for example its keys are out of
  /// order.
  bool is_canonical = true;
  /// The number of values in the record, nested ones included.
  std::uint32_t values = 0;
  records::Decoded record;

  RecordChange() = default;
  RecordChange(RecordChange&&) noexcept = default;
  RecordChange& operator=(RecordChange&&) noexcept = default;
  RecordChange(const RecordChange&) = delete;
  RecordChange& operator=(const RecordChange&) = delete;
};

/// `#identity`: handle or keys may have changed. `handle`: from its host or document; "": unknown.
struct IdentityChange {
  std::optional<std::string> handle;
  Timestamp time;
};

/// The handle of an `#identity` message in lower case. It is only a hint: a malformed one is
/// absent.
std::optional<std::string> handle_hint(std::string_view text);

/// `#account`: the account's hosting status at the host that sent it.
struct AccountChange {
  /// False: the account is hidden (atproto::hides).
  bool active = true;
  std::string status;  // empty when the host sent none
  Timestamp time;
  /// The account was deleted permanently: all its rows are deleted.
  bool purge = false;
  /// The newest revision before this change; 0: unknown.
  atproto::Tid last_rev{};
};

/// Input that cannot become rows. It is stored in `skua.dead_letter` with its bytes.
struct Rejection {
  /// The rejected item: the path of an operation, the position of a label, or the message type of a
  /// whole frame.
  std::string what;
  /// The reason, as a message for people.
  std::string error;
  Bytes payload = {};
  /// Of a record, as far as they are known: the operation, and the revision of the commit (0:
  /// unknown).
  std::optional<Operation> operation = std::nullopt;
  atproto::Tid rev{};
  /// The CID of the record, if the payload is the record; otherwise nothing.
  std::optional<atproto::Cid> cid = std::nullopt;
};

/// A label that a labeler set or withdrew. The references of its subject are resolved in place.
struct LabelChange {
  /// The label's DAG-CBOR. `label` holds views into it: move, never copy.
  Bytes block;
  Label label;
  /// Its position in its frame, which distinguishes it from the other labels of the frame.
  std::uint32_t place = 0;

  LabelChange() = default;
  LabelChange(LabelChange&&) noexcept = default;
  LabelChange& operator=(LabelChange&&) noexcept = default;
  LabelChange(const LabelChange&) = delete;
  LabelChange& operator=(const LabelChange&) = delete;
};

/// The rejected item of a label message begins with this.
inline constexpr std::string_view kLabelPath = "labels/";
/// The rejected item of a label message, for example `labels/3`.
std::string label_path(std::uint32_t place);

/// The result of decoding: one change of one account, which names other accounts by DID and AT-URI.
/// Has one owner; moves from thread to thread, never copied.
struct UnresolvedEvent {
  std::string did;
  EventSource source = EventSource::Live;
  RecordType type = RecordType::Metadata;
  /// The host's sequence number of the frame that contained it.
  std::int64_t seq = 0;
  /// The position of its frame in the in-flight list; set by the pipeline.
  std::uint64_t ticket = 0;
  /// The source within the process that sent it (writer/worker_services.hpp); set by the pipeline.
  std::uint32_t origin = 0;
  std::variant<RecordChange, IdentityChange, AccountChange, LabelChange, Rejection> body;

  Lane lane() const { return {source, type}; }
  /// `at://did/collection/rkey` for a record change, otherwise `at://did`.
  std::string at_uri() const;
};

/// False: the event has a record whose block is not in the canonical form of DAG-CBOR.
inline bool is_canonical(const UnresolvedEvent& event) {
  const auto* change = std::get_if<RecordChange>(&event.body);
  return change == nullptr || change->is_canonical;
}

}  // namespace skua::event
