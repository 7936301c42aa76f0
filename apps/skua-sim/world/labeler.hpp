#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "label.hpp"
#include "message_log.hpp"
#include "population.hpp"
#include "random.hpp"
#include "subjects.hpp"

namespace skua::sim {

/// An account of the network that labels accounts and posts, and withdraws some labels. Its stream
/// has its own numbers and goes back to the first label; a label keeps its original signature. Its
/// actions depend only on the seed and the calls, and do not influence other accounts. One thread.
class Labeler {
 public:
  /// Turns the `number`th account of the population into a labeler. The population and the subjects
  /// must outlive it.
  Labeler(std::uint64_t seed, std::size_t number, Population& population, const Subjects& subjects,
          Timestamp now);

  const std::string& did() const { return account().did; }
  Account& account() const { return population_.at(number_); }

  /// At random, after a step of the network: a frame with one label, or with a few.
  void happen(Timestamp now);

  /// A requested label; `src` is filled in.
  struct Wanted {
    Label label;
    std::optional<LabelFlaw> flaw = std::nullopt;
  };
  /// Publishes one frame with these labels. Each label without a flaw must have a datetime in
  /// `cts`. Returns the frame's seq.
  std::int64_t say(std::vector<Wanted> wanted);
  /// Sends the newest frame again, with the same number. False: there is none yet.
  bool repeat();

  MessageLog& log() { return log_; }
  /// The current labels: {src, seq, labels: [{src, uri, val, neg, cts, exp, cid, seq}]}, by URI and
  /// value; absent fields are null. Of several labels with one URI and value the last by (cts, seq)
  /// counts; withdrawn ones are included with `neg`.
  nlohmann::ordered_json state() const;

 private:
  /// URI and value.
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
