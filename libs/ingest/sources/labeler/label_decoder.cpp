#include "sources/labeler/label_decoder.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "documents/errc.hpp"

namespace skua::sources {

namespace {

/// The number of labelers of one stream whose keys are kept.
constexpr std::size_t kLabelers = 1'000;
/// The age from which a key is requested again.
constexpr std::chrono::hours kLabelKeyFreshFor{24};

using Freshness = accounts::AccountSource::Freshness;

/// Returns the error of the dead letter. The messages of verify describe commits, not labels.
const char* message_of(verify::errc reason) {
  return reason == verify::errc::no_did_document
             ? "the label's src has no DID document, or none with a usable #atproto_label key"
             : "the label's signature is not one of its src's #atproto_label key";
}

/// Keeps only the newest label of a frame for each subject and value, and of equal times the later
/// label. All labels of a frame have the same seq, so the writer cannot order them.
void fold_labels(std::vector<event::UnresolvedEvent>& events) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                         std::string_view>;
  const auto key_of = [](const event::Label& label) {
    if (const auto* record = std::get_if<records::RecordRef>(&label.subject)) {
      return Key{label.src, record->did, record->collection, record->rkey, label.val};
    }
    if (const auto* other = std::get_if<event::UriRef>(&label.subject)) {
      return Key{label.src, other->uri, {}, {}, label.val};
    }
    return Key{label.src, std::get<records::ActorRef>(label.subject).did, {}, {}, label.val};
  };
  std::map<Key, std::size_t> newest;
  std::vector<bool> is_overtaken(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto* change = std::get_if<event::LabelChange>(&events[i].body);
    if (change == nullptr) continue;
    const auto [place, inserted] = newest.try_emplace(key_of(change->label), i);
    if (inserted) continue;
    const auto& before = std::get<event::LabelChange>(events[place->second].body);
    const bool wins = change->label.cts >= before.label.cts;
    is_overtaken[wins ? place->second : i] = true;
    if (wins) place->second = i;
  }
  std::size_t i = 0;
  std::erase_if(events, [&](const auto& /*event*/) { return is_overtaken[i++]; });
}

}  // namespace

LabelDecoder::LabelDecoder(pipeline::DispatchServices services, accounts::AccountSource* accounts,
                           std::optional<LabelLimits> limits)
    : services_(std::move(services)),
      accounts_(accounts),
      limits_(std::move(limits)),
      pace_(limits_ ? std::optional<LabelPace>(limits_->per_second) : std::nullopt),
      keys_(kLabelers) {}

void LabelDecoder::close() {
  const std::scoped_lock lock(answers_->mutex);
  answers_->closed = true;
  answers_->changed.notify_all();
}

bool LabelDecoder::tick() {
  const auto taken = std::exchange(taken_, std::nullopt);
  if (!pace_ || !taken) return false;
  const auto until =
      pace_->took(cost_of(taken->labels, taken->bytes), std::chrono::steady_clock::now());
  std::unique_lock lock(answers_->mutex);
  answers_->changed.wait_until(lock, until, [&] { return answers_->closed; });
  return false;
}

template <class Answer, class Ask>
std::optional<Result<Answer>> LabelDecoder::answer_to(Ask&& ask) {
  const auto place = std::make_shared<std::optional<Result<Answer>>>();
  std::forward<Ask>(ask)([answers = answers_, place](Result<Answer> answer) {
    const std::scoped_lock lock(answers->mutex);
    *place = std::move(answer);
    answers->changed.notify_all();
  });
  services_.intake.accounts_waiting += 1;
  std::optional<Result<Answer>> answer;
  {
    std::unique_lock lock(answers_->mutex);
    answers_->changed.wait(lock, [&] { return place->has_value() || answers_->closed; });
    answer = std::move(*place);
  }
  services_.intake.accounts_waiting -= 1;
  return answer;
}

void LabelDecoder::take(pipeline::AdmittedMessage& message) {
  taken_ = {.labels = 0, .bytes = message.bytes.size()};
  ErrorCode failed = message.defect;
  if (!failed) {
    if (const auto decoded = decoder_.decode(message.bytes, frame_); !decoded) {
      failed = decoded.error();
    }
  }
  if (failed) {
    if (limits_) {
      services_.intake.drop(verify::errc::label_malformed);
      services_.in_flight.decoded(message.ticket, 0, Timestamp{});
      return;
    }
    if (message.defect) {
      pipeline::reject_defect(services_, message);
    } else {
      pipeline::reject_message(services_, message.ticket, message.did, message.seq,
                               failed.message(), std::move(message.bytes));
    }
    return;
  }
  using Type = event::DecodedLabelFrame::Type;
  switch (frame_.type) {
    case Type::Labels:
      if (!take_labels(message)) ++abandoned_;
      return;
    case Type::Info:
      services_.intake.infos += 1;
      if (!limits_) logger("intake")->info("#info {}: {}", frame_.name, frame_.message);
      break;
    case Type::Error:
      services_.intake.errors += 1;
      break;
    case Type::Unknown:
      services_.intake.unknown += 1;
      break;
  }
  services_.in_flight.decoded(message.ticket, 0, Timestamp{});
}

bool LabelDecoder::take_labels(const pipeline::AdmittedMessage& message) {
  taken_->labels = frame_.labels.size();
  // The time is reported now, because the message may wait for a key.
  if (!frame_.labels.empty()) {
    services_.in_flight.made_at(message.ticket, frame_.labels.front().label.cts);
  }
  std::vector<event::UnresolvedEvent> events;
  events.reserve(frame_.labels.size());
  std::size_t unknown = 0;
  Timestamp newest{};
  std::vector<verify::errc> refused;
  for (std::size_t i = 0; i < frame_.labels.size(); ++i) {
    event::LabelEntry& entry = frame_.labels[i];
    if (entry.has_unknown_fields) ++unknown;
    std::optional<Refusal> refusal;
    if (!judge(entry, refusal)) return false;
    if (refusal) refused.push_back(refusal->reason);
    if (refusal && (limits_ || refusal->reason == verify::errc::foreign_account)) continue;
    if (!refusal) newest = std::max(newest, entry.label.cts);
    event::UnresolvedEvent event;
    event.did = entry.label.src;
    event.type = event::RecordType::Metadata;
    event.seq = frame_.seq;
    const auto place = static_cast<std::uint32_t>(i);
    if (!refusal) {
      event::LabelChange change;
      change.block = std::move(entry.block);
      change.label = entry.label;
      change.place = place;
      event.body = std::move(change);
    } else {
      event.body = event::Rejection{event::label_path(place), std::move(refusal->error),
                                    std::move(entry.block)};
    }
    events.push_back(std::move(event));
  }
  services_.intake.labels += frame_.labels.size();
  services_.intake.unknown += unknown;
  for (const verify::errc reason : refused) {
    // A malformed label of a trusted labeler makes a dead letter, which has a counter of its own.
    if (limits_ || reason != verify::errc::label_malformed) services_.intake.drop(reason);
  }
  fold_labels(events);
  pipeline::note_time(services_.intake, newest, services_.now());
  // The filter applies to records, not to labels.
  pipeline::dispatch(services_, nullptr, message.ticket, events, newest);
  return true;
}

bool LabelDecoder::judge(const event::LabelEntry& entry, std::optional<Refusal>& refusal) {
  if (entry.error) {
    refusal = {verify::errc::label_malformed, make_error_code(*entry.error).message()};
    return true;
  }
  if (!services_.groups.has_account(entry.label.src)) {
    refusal = {verify::errc::foreign_account, {}};
    return true;
  }
  if (limits_ && !limits_->speaks_for(entry.label.src)) {
    refusal = {verify::errc::label_of_other, {}};
    return true;
  }
  verify::errc reason{};
  const Verdict verdict = check(entry, reason);
  if (verdict == Verdict::Dropped) refusal = {reason, message_of(reason)};
  return verdict != Verdict::Abandoned;
}

LabelDecoder::Verdict LabelDecoder::check(const event::LabelEntry& entry, verify::errc& reason) {
  if (accounts_ == nullptr) return Verdict::Good;
  const std::string src(entry.label.src);
  const std::vector<Bytes> forms = event::signed_forms_of_label(entry.block);
  const auto good = [this] {
    services_.intake.verified += 1;
    return Verdict::Good;
  };
  auto known = key_of(src, Freshness::Known);
  if (!known) return Verdict::Abandoned;
  if (is_signed_by(known->key, forms, entry.label.sig)) return good();
  reason = verify::errc::wrong_signature;
  if (entry.label.sig.empty()) return Verdict::Dropped;
  // The key may have changed without a message, or this process lags and the label was signed with
  // a former key.
  known = key_of(src, Freshness::Recent);
  if (!known) return Verdict::Abandoned;
  if (is_signed_by(known->key, forms, entry.label.sig)) return good();
  if (accounts_->has_hosts()) {
    const auto former = answer_to<std::vector<atproto::Multikey>>([&](auto done) {
      accounts_->keys_near(src, entry.label.cts, accounts::AccountSource::KeyUse::Labels,
                           std::move(done));
    });
    if (!former) return Verdict::Abandoned;
    const bool is_signed =
        *former && std::any_of((*former)->begin(), (*former)->end(), [&](auto& key) {
          return is_signed_by(key, forms, entry.label.sig);
        });
    if (is_signed) {
      services_.intake.former_keys += 1;
      return good();
    }
  }
  if (!known->key) reason = verify::errc::no_did_document;
  return Verdict::Dropped;
}

bool LabelDecoder::is_signed_by(const std::optional<atproto::Multikey>& key,
                                std::span<const Bytes> forms, ByteView signature) {
  if (!key || signature.empty()) return false;
  if (!parsed_ || parsed_->first != *key) {
    const auto parsed = atproto::VerifyingKey::from_multikey(*key);
    if (!parsed) return false;
    parsed_.emplace(*key, *parsed);
  }
  return std::any_of(forms.begin(), forms.end(), [&](const Bytes& form) {
    return parsed_->second.verify(form, signature).has_value();
  });
}

std::optional<LabelDecoder::KnownKey> LabelDecoder::key_of(const std::string& src,
                                                           Freshness freshness) {
  const Timestamp now = services_.now();
  const KnownKey* known = keys_.find(src);
  if (freshness == Freshness::Known && known != nullptr &&
      now - known->asked_at < kLabelKeyFreshFor) {
    return *known;
  }
  const std::optional<atproto::Multikey> before = known != nullptr ? known->key : std::nullopt;
  const auto account = answer_to<documents::Account>(
      [&](auto done) { accounts_->identity(src, freshness, std::move(done)); });
  if (!account) return std::nullopt;
  KnownKey found{std::nullopt, now};
  if (*account) {
    found.key = (**account).label_key;
  } else if (documents::is_server_failure(account->error())) {
    // The failure of a server does not invalidate a known key.
    found.key = before;
  }
  return *keys_.insert(src, found);
}

}  // namespace skua::sources
