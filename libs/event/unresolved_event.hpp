#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/label.hpp"
#include "records/record.hpp"
#include "records/record_type.hpp"

namespace skua::event {

using records::RecordType;

/// Whether an event is news or history. Live goes first.
enum class EventSource : std::uint8_t { Live, Backfill };

/// One queue of work: three workers each.
struct Lane {
  EventSource source = EventSource::Live;
  RecordType type = RecordType::Metadata;
  friend bool operator==(const Lane&, const Lane&) = default;
};

enum class Operation : std::uint8_t { Create, Update, Delete };

/// A create, update or delete of one record, as its commit says it.
struct RecordChange {
  Operation operation = Operation::Create;
  std::string collection;
  std::string rkey;
  std::optional<atproto::Cid> cid;  // absent on delete
  atproto::Tid rev;
  /// The record's DAG-CBOR, empty on delete. `record` holds views into it: move, never copy.
  Bytes block;
  /// False: `block` has another form than DAG-CBOR's, such as keys in another order.
  bool is_canonical = true;
  records::Decoded record;

  RecordChange() = default;
  RecordChange(RecordChange&&) noexcept = default;
  RecordChange& operator=(RecordChange&&) noexcept = default;
  RecordChange(const RecordChange&) = delete;
  RecordChange& operator=(const RecordChange&) = delete;
};

/// `#identity`: handle or keys may have changed. `handle`: its host's or document's; "": none.
struct IdentityChange {
  std::optional<std::string> handle;
  Timestamp time;
};

/// `#account`: the account's hosting status at the host that sent it.
struct AccountChange {
  bool active = true;
  std::string status;  // empty when the host gave none
  Timestamp time;
  /// It was deleted for good: all that it had before goes.
  bool purge = false;
  /// The newest revision that came before this; 0: not known.
  atproto::Tid last_rev{};
};

/// Input that cannot become rows: it goes to `skua.dead_letter` with its bytes.
struct Rejection {
  /// The rejected item: the path of an operation, the position of a label, or the message type of a
  /// whole frame.
  std::string what;
  /// Why, in plain words.
  std::string error;
  Bytes payload;
};

/// A labeler's word. Its subject's references are resolved in place.
struct LabelChange {
  /// The label's DAG-CBOR. `label` holds views into it: move, never copy.
  Bytes block;
  Label label;
  /// Its place in its frame: tells it from its siblings.
  std::uint32_t place = 0;

  LabelChange() = default;
  LabelChange(LabelChange&&) noexcept = default;
  LabelChange& operator=(LabelChange&&) noexcept = default;
  LabelChange(const LabelChange&) = delete;
  LabelChange& operator=(const LabelChange&) = delete;
};

/// The rejected item of a label message, for example `labels/3`.
std::string label_path(std::uint32_t place);

/// What decoding leaves: one change of one account, naming others by DID and AT-URI.
/// Owned by whoever holds it; moved from thread to thread, never copied.
struct UnresolvedEvent {
  std::string did;
  EventSource source = EventSource::Live;
  RecordType type = RecordType::Metadata;
  /// The host's sequence number of the frame that brought it.
  std::int64_t seq = 0;
  /// Its frame's place in the in-flight list; set by the pipeline.
  std::uint64_t ticket = 0;
  /// Which of the process's sources brought it (writer/source_names.hpp); set by the pipeline.
  std::uint32_t origin = 0;
  std::variant<RecordChange, IdentityChange, AccountChange, LabelChange, Rejection> body;

  Lane lane() const { return {source, type}; }
  /// `at://did/collection/rkey` of a record change, `at://did` of the rest.
  std::string at_uri() const;
};

/// False: the event brings a record whose block has another form than DAG-CBOR's.
inline bool is_canonical(const UnresolvedEvent& event) {
  const auto* change = std::get_if<RecordChange>(&event.body);
  return change == nullptr || change->is_canonical;
}

}  // namespace skua::event
