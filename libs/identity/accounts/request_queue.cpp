#include "accounts/request_queue.hpp"

#include <unordered_set>
#include <utility>

#include "base/fair_queue.hpp"
#include "base/seeded_hash.hpp"
#include "documents/errc.hpp"

namespace skua::accounts {
namespace {

/// The time until `may_start` is called again.
constexpr std::chrono::milliseconds kHeldBack{20};

struct Waiter {
  explicit Waiter(const Executor& executor) : timer(executor) {}

  /// The timer expires when the patience ends. It is cancelled when the request may start, and at a
  /// stop.
  Timer timer;
  bool is_started = false;
  /// Whether the request was refused, so that the queue passes it over.
  bool is_refused = false;
};

}  // namespace

/// The places share this state, because they may outlive the queue.
struct RequestQueue::State : std::enable_shared_from_this<RequestQueue::State> {
  State(const Executor& executor, Options given)
      : options(std::move(given)), lines(options.of_one_key), held_back(executor) {}

  /// Starts all waiting requests that the limits permit.
  void start_waiting() {
    while (!is_stopped && lines.turns() > 0 && active < options.at_once) {
      const bool is_refused = lines.front()->is_refused;
      if (!is_refused && options.may_start && !options.may_start()) return look_again();
      const std::string key = lines.next();
      const std::shared_ptr<Waiter> waiter = lines.take();
      if (is_refused) {
        lines.finished(key);
        continue;
      }
      ++active;
      waiting.erase(waiter);
      waiter->is_started = true;
      waiter->timer.cancel();
    }
  }

  void look_again() {
    if (is_held_back) return;
    is_held_back = true;
    held_back.expires_after(kHeldBack);
    held_back.async_wait([self = shared_from_this()](ErrorCode /*cancelled*/) {
      self->is_held_back = false;
      self->start_waiting();
    });
  }

  void leave(const std::string& key) {
    if (is_stopped) return;
    --active;
    lines.finished(key);
    start_waiting();
  }

  const Options options;
  FairLines<std::shared_ptr<Waiter>, std::string, SeededHash> lines;
  std::unordered_set<std::shared_ptr<Waiter>> waiting;
  std::size_t active = 0;
  Timer held_back;
  bool is_held_back = false;
  bool is_stopped = false;
};

RequestQueue::RequestQueue(const Executor& executor, Options options)
    : state_(std::make_shared<State>(executor, std::move(options))) {}

RequestQueue::~RequestQueue() {
  state_->is_stopped = true;
}

Awaitable<Result<RequestQueue::Place>> RequestQueue::enter(std::string key, bool first) {
  const std::shared_ptr<State> state = state_;
  if (state->is_stopped) co_return documents::errc::stopped;
  const auto waiter = std::make_shared<Waiter>(state->held_back.get_executor());
  if (state->options.patience) {
    waiter->timer.expires_after(*state->options.patience);
  } else {
    waiter->timer.expires_at(std::chrono::steady_clock::time_point::max());
  }
  state->waiting.insert(waiter);
  if (first) {
    state->lines.push_first(key, waiter);
  } else {
    state->lines.push(key, waiter);
  }
  state->start_waiting();
  if (!waiter->is_started) co_await expired(waiter->timer);
  if (waiter->is_started) {
    Place place(nullptr, [state, key](void*) { state->leave(key); });
    co_return place;
  }
  waiter->is_refused = true;
  state->waiting.erase(waiter);
  co_return state->is_stopped ? documents::errc::stopped : documents::errc::busy;
}

void RequestQueue::stop() {
  state_->is_stopped = true;
  state_->held_back.cancel();
  for (const std::shared_ptr<Waiter>& waiter : state_->waiting) waiter->timer.cancel();
}

std::size_t RequestQueue::waiting() const {
  return state_->waiting.size();
}

}  // namespace skua::accounts
