#include "transport/stream_client.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"
#include "transport/impl/stream_session.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport {

namespace {

namespace asio = boost::asio;

StreamClientOptions completed(StreamClientOptions options) {
  if (!std::all_of(options.headers.begin(), options.headers.end(), is_one_line)) {
    throw std::invalid_argument("a header of HTTP must be one line");
  }
  if (!options.target) {
    options.target = [endpoint = options.endpoint] { return endpoint.target(std::nullopt); };
  }
  if (options.user_agent.empty()) options.user_agent = "skua/" SKUA_VERSION;
  if (!options.random) {
    options.random = [engine = std::mt19937_64(std::random_device()())]() mutable {
      return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
    };
  }
  return options;
}

}  // namespace

class StreamClient::Impl {
 public:
  Impl(StreamClientOptions options, FrameSink& sink)
      : options_(completed(std::move(options))),
        sink_(sink),
        inbox_(std::make_shared<impl::Inbox>(io_)),
        outgoing_(options_.max_queued_bytes),
        backoff_(io_.get_executor()),
        policy_(options_.reconnect, options_.random) {
    if (options_.endpoint.tls) tls_ = impl::make_tls_client_context(options_.ca_file);
  }

  ~Impl() {
    stop();
    inbox_->close();
  }

  void start() {
    // An exception here is a bug of ours (a sink that throws) or a lack of memory, so the exception
    // ends the process.
    asio::co_spawn(
        io_, [this] { return run(); },
        [](const std::exception_ptr& error) {
          if (error) std::rethrow_exception(error);
        });
    thread_ = std::thread([this] { io_.run(); });
  }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      stopping_ = true;
      backoff_.cancel();
      if (session_) session_->stop();
    });
    thread_.join();
  }

  SendOutcome send(std::uint64_t connection, std::string text) {
    const auto put = outgoing_.put(connection, std::move(text));
    if (put.outcome == SendOutcome::Full) {
      statistics_.sends_refused.fetch_add(1, std::memory_order_relaxed);
    }
    if (put.first) {
      inbox_->post([this] {
        if (session_) session_->texts_wait();
      });
    }
    return put.outcome;
  }

  void reconnect(std::string reason) {
    inbox_->post([this, reason = std::move(reason)] {
      if (session_) session_->abandon(reason);
    });
  }

  const StreamStatistics& statistics() const { return statistics_; }

 private:
  impl::Awaitable<void> run() {
    auto* const tls = tls_ ? &*tls_ : nullptr;
    const impl::SessionContext context{io_,   inbox_,  tls,       options_,
                                       sink_, policy_, outgoing_, statistics_};
    while (!stopping_) {
      session_ = impl::make_stream_session(context);
      auto target = options_.target();
      auto ending = co_await session_->run(std::move(target));
      session_.reset();
      if (stopping_) break;
      statistics_.failures.fetch_add(1, std::memory_order_relaxed);
      // Adds the backoff to the wait of the server, so that clients that the server asked to wait
      // do not all return at once.
      ending.next_attempt_in += policy_.failed();
      sink_.on_disconnected(ending);
      ErrorCode ignored;
      auto token = impl::into(ignored);
      backoff_.expires_after(ending.next_attempt_in);
      co_await backoff_.async_wait(token);
    }
  }

  const StreamClientOptions options_;
  FrameSink& sink_;
  std::optional<asio::ssl::context> tls_;  // loading the system's certificates takes a while
  asio::io_context io_{1};                 // uses one thread
  std::shared_ptr<impl::Inbox> inbox_;
  impl::Outgoing outgoing_;
  impl::Timer backoff_;
  ReconnectPolicy policy_;
  StreamStatistics statistics_;
  std::shared_ptr<impl::StreamSession> session_;
  bool stopping_ = false;
  std::thread thread_;
};

StreamClient::StreamClient(StreamClientOptions options, FrameSink& sink)
    : impl_(std::make_unique<Impl>(std::move(options), sink)) {}

StreamClient::~StreamClient() = default;

void StreamClient::start() {
  impl_->start();
}

void StreamClient::stop() {
  impl_->stop();
}

SendOutcome StreamClient::send(std::uint64_t connection, std::string text) {
  return impl_->send(connection, std::move(text));
}

void StreamClient::reconnect(std::string reason) {
  impl_->reconnect(std::move(reason));
}

const StreamStatistics& StreamClient::statistics() const {
  return impl_->statistics();
}

StreamClientOptions relay_stream(Endpoint relay,
                                 std::function<std::optional<std::int64_t>()> cursor) {
  StreamClientOptions options;
  options.endpoint = std::move(relay);
  options.target = [endpoint = options.endpoint, cursor = std::move(cursor)] {
    return endpoint.target(cursor());
  };
  options.peer = "the relay";
  return options;
}

}  // namespace skua::transport
