#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "world/message_log.hpp"
#include "world/population.hpp"
#include "world/random.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// A labeler's statement about an account or a record (atproto.com/specs/label), unsigned. Absent
/// fields are omitted from its DAG-CBOR.
struct Label {
  std::optional<std::int64_t> ver = 1;
  std::string src;  // the labeler's DID
  std::string uri;  // an at-URI, or the DID of an account
  std::optional<std::string> cid;
  std::string val;
  std::optional<bool> neg;
  std::string cts;  // a datetime, like exp
  std::optional<std::string> exp;
};

/// The errors of a dishonest label. Such labels are signed correctly, except for the errors of the
/// signature.
enum class LabelFlaw : std::uint8_t {
  signature,     // one bit is changed
  no_signature,  // absent
  ver,           // 2
  src,           // the DID of another account
  uri,           // neither a URI nor a DID
  cid,           // not a CID
  val,           // 129 bytes
  cts,           // not a datetime
  exp,           // not a datetime
};
/// Returns the flaw of a name, such as `no-signature`; nothing if the name is unknown.
std::optional<LabelFlaw> parse_label_flaw(std::string_view name);
/// Returns all names, for a message.
std::string label_flaw_names();

/// Returns the label with that flaw. `stranger` is the DID of another account. Flaws of the
/// signature are applied when the label is signed.
Label with_flaw(Label label, LabelFlaw flaw, std::string_view stranger);

/// Returns the label's DAG-CBOR with its signature by that key.
Bytes signed_label(const Label& label, const atproto::SigningKey& key,
                   std::optional<LabelFlaw> flaw = std::nullopt);

/// Returns a `#labels` message of com.atproto.label.subscribeLabels. Each of `labels` is DAG-CBOR.
Message labels_message(std::string_view did, std::span<const Bytes> labels);

/// An account of the network that labels accounts and posts, and withdraws some labels. Its stream
/// has its own numbers and goes back to the first label; a label keeps its original signature. Its
/// actions depend only on the seed and the calls, and do not influence other accounts. One thread.
class Labeler {
 public:
  /// Turns the `number`th account of the population into a labeler. The population and the subjects
  /// must outlive the labeler.
  Labeler(std::uint64_t seed, std::size_t number, Population& population, const Subjects& subjects,
          Timestamp now);

  const std::string& did() const { return account().did; }
  Account& account() const { return population_.at(number_); }

  /// Publishes at random a frame with one label, or with a few. To be called after a step of the
  /// network.
  void happen(Timestamp now);

  /// A requested label, whose `src` is filled in.
  struct Wanted {
    Label label;
    std::optional<LabelFlaw> flaw = std::nullopt;
  };
  /// Publishes one frame with these labels. Each label without a flaw must have a datetime in
  /// `cts`. Returns the frame's seq.
  std::int64_t say(std::vector<Wanted> wanted);
  /// Sends the newest frame again, with the same number. Returns false if there is none yet.
  bool repeat();

  MessageLog& log() { return log_; }
  /// Returns the current labels: {src, seq, labels: [{src, uri, val, neg, cts, exp, cid, seq}]}, by
  /// URI and value. Absent fields are null. If several labels have the same URI and value, the last
  /// by (cts, seq) counts. Withdrawn labels are included with `neg`.
  nlohmann::ordered_json state() const;

 private:
  /// A key has the URI and the value of a label.
  using Key = std::pair<std::string, std::string>;
  struct Standing {
    Label label;
    Timestamp made;
    std::int64_t seq = 0;
  };

  Label fresh_label(Timestamp now);
  Label changed_label(Timestamp now);
  void keep(const Label& label, std::int64_t seq);

  Random random_;
  const std::size_t number_;
  Population& population_;
  const Subjects& subjects_;
  MessageLog log_;
  std::shared_ptr<const Message> newest_;
  std::map<Key, Standing> standing_;
  /// The keys of the current labels in the order of their creation, for picking one.
  std::vector<Key> keys_;
};

}  // namespace skua::sim
