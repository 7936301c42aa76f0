#include "transport/http_client.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <deque>
#include <exception>
#include <future>
#include <list>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include "atproto/base64.hpp"
#include "base/guarded.hpp"
#include "transport/errc.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/connection_pool.hpp"
#include "transport/impl/http_fetch.hpp"
#include "transport/impl/inbox.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport {

namespace {

namespace asio = boost::asio;
using std::chrono::seconds;

HttpClientOptions completed(HttpClientOptions options) {
  if (options.user_agent.empty()) options.user_agent = "skua/" SKUA_VERSION;
  return options;
}

/// The limit for numbers of seconds from a host. Larger numbers have no meaning and would not fit
/// into a Timestamp.
constexpr std::int64_t kLargestNumber = 100'000'000'000;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::clamp(number, -kLargestNumber, kLargestNumber);
}

/// Parses an HTTP date in the only form that is still sent (RFC 9110, section 5.6.7).
std::optional<std::chrono::sys_seconds> http_date(const std::string& text) {
  std::tm fields{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &fields);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::sys_seconds(seconds(::timegm(&fields)));
}

seconds until(std::chrono::sys_seconds instant, Timestamp now) {
  return std::max(seconds(0), std::chrono::ceil<seconds>(instant - now));
}

/// Returns the time until the reset. RateLimit-Reset is an instant or a number of seconds.
std::optional<seconds> until_reset(const HttpAnswer& answer, Timestamp now) {
  const auto reset = number_of(answer.rate_limit_reset);
  if (!reset || *reset < 0) return std::nullopt;
  // A number of seconds is small; an instant is more than a billion.
  constexpr std::int64_t kSomeYears = 100'000'000;
  if (*reset < kSomeYears) return seconds(*reset);
  return until(std::chrono::sys_seconds(seconds(*reset)), now);
}

}  // namespace

std::string basic_authorization(std::string_view user, std::string_view password) {
  std::string plain(user);
  plain.append(1, ':').append(password);
  std::string value = "Basic ";
  atproto::append_base64(value, as_bytes(plain));
  value.append((3 - plain.size() % 3) % 3, '=');
  return value;
}

ByteView body_of(const HttpAnswer& answer) {
  return answer.spooled ? answer.spooled->view() : as_bytes(answer.body);
}

std::optional<Timestamp> host_time(const HttpAnswer& answer) {
  return http_date(answer.date);
}

std::optional<seconds> asked_wait(const HttpAnswer& answer, Timestamp now) {
  if (const auto after = number_of(answer.retry_after))
    return std::max(seconds(0), seconds(*after));
  if (const auto date = http_date(answer.retry_after)) return until(*date, now);
  if (number_of(answer.rate_limit_remaining) != 0) return std::nullopt;
  return until_reset(answer, now);
}

std::optional<RateLimit> stated_rate_limit(const HttpAnswer& answer, Timestamp now) {
  const auto remaining = number_of(answer.rate_limit_remaining);
  const auto reset = until_reset(answer, now);
  if (!remaining || *remaining < 0 || !reset) return std::nullopt;
  auto limit = number_of(answer.rate_limit);
  if (limit && *limit < 0) limit.reset();
  return RateLimit{limit, *remaining, *reset};
}

class HttpClient::Impl {
 public:
  explicit Impl(HttpClientOptions options)
      : options_(completed(std::move(options))),
        tls_(impl::make_tls_client_context(options_.ca_file)),
        inbox_(std::make_shared<impl::Inbox>(io_)),
        pool_(io_.get_executor(), options_.idle_timeout, options_.idle_of_one_origin,
              options_.idle_in_all),
        context_{io_, inbox_, tls_, options_, pool_},
        work_(io_.get_executor()),
        thread_([this] { io_.run(); }) {}

  ~Impl() { stop(); }

  void send(HttpRequest request, Callback done) {
    const bool taken = stopped_.with([&](bool stopped) {
      if (stopped) return false;
      auto waiting = std::make_shared<Waiting>(Waiting{std::move(request), done});
      inbox_->post([this, waiting] { take(std::move(*waiting)); });
      return true;
    });
    if (!taken) done(errc::http_stopped);
  }

  void stop() {
    const bool first = stopped_.with([](bool& stopped) { return !std::exchange(stopped, true); });
    if (!first) return;
    inbox_->post([this] {
      stopping_ = true;
      for (const auto& fetch : running_) fetch->stop();
      for (auto& waiting : std::exchange(waiting_, {})) waiting.done(errc::http_stopped);
      pool_.close();
      work_.reset();
    });
    thread_.join();
    inbox_->close();
  }

 private:
  struct Waiting {
    HttpRequest request;
    Callback done;
  };
  using Running = std::list<std::shared_ptr<impl::HttpFetch>>;

  void take(Waiting&& request) {
    if (running_.size() < options_.max_at_once) {
      start(std::move(request));
    } else if (waiting_.size() < options_.max_waiting) {
      waiting_.push_back(std::move(request));
    } else {
      request.done(errc::http_busy);
    }
  }

  void start(Waiting&& request) {
    const auto place = running_.insert(
        running_.end(), std::make_shared<impl::HttpFetch>(context_, std::move(request.request)));
    // An exception here is a bug of ours (a callback that throws) or a lack of memory, so the
    // exception ends the process.
    asio::co_spawn(
        io_, [fetch = *place] { return fetch->run(); },
        [this, place, done = std::move(request.done)](const std::exception_ptr& error,
                                                      Result<HttpAnswer> answer) {
          if (error) std::rethrow_exception(error);
          running_.erase(place);
          done(std::move(answer));
          if (stopping_ || waiting_.empty()) return;
          auto next = std::move(waiting_.front());
          waiting_.pop_front();
          start(std::move(next));
        });
  }

  const HttpClientOptions options_;
  asio::ssl::context tls_;
  asio::io_context io_{1};  // uses one thread
  std::shared_ptr<impl::Inbox> inbox_;
  impl::ConnectionPool pool_;  // used on the client's thread
  const impl::HttpContext context_;
  asio::executor_work_guard<impl::Executor> work_;
  // Used on the client's thread.
  Running running_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;

  Guarded<bool> stopped_{false};
  std::thread thread_;
};

HttpClient::HttpClient(HttpClientOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

HttpClient::~HttpClient() = default;

void HttpClient::send(HttpRequest request, Callback done) {
  impl_->send(std::move(request), std::move(done));
}

Result<HttpAnswer> HttpClient::send(HttpRequest request) {
  // The promise is shared, because the client's thread may still use it after this thread has the
  // answer.
  const auto promise = std::make_shared<std::promise<Result<HttpAnswer>>>();
  auto answer = promise->get_future();
  impl_->send(std::move(request),
              [promise](Result<HttpAnswer> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

void HttpClient::stop() {
  impl_->stop();
}

}  // namespace skua::transport
