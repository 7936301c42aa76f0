#include "transport/relay_client.hpp"

#include <exception>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"
#include "transport/impl/relay_session.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport {
namespace {

namespace asio = boost::asio;

RelayClientOptions completed(RelayClientOptions options) {
  if (options.user_agent.empty()) options.user_agent = "skua/" SKUA_VERSION;
  if (!options.random) {
    options.random = [engine = std::mt19937_64(std::random_device()())]() mutable {
      return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
    };
  }
  return options;
}

}  // namespace

class RelayClient::Impl {
 public:
  Impl(RelayClientOptions options, FrameSink& sink)
      : options_(completed(std::move(options))),
        sink_(sink),
        inbox_(std::make_shared<impl::Inbox>(io_)),
        backoff_(io_.get_executor()),
        policy_(options_.reconnect, options_.random) {
    if (options_.endpoint.tls) tls_ = impl::make_tls_client_context(options_.ca_file);
  }

  ~Impl() {
    stop();
    inbox_->close();
  }

  void start() {
    // An exception here is our own defect (a sink that throws, no memory): it ends the process.
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

  const RelayStatistics& statistics() const { return statistics_; }

 private:
  impl::Awaitable<void> run() {
    auto* const tls = tls_ ? &*tls_ : nullptr;
    const impl::SessionContext context{io_, inbox_, tls, options_, sink_, policy_, statistics_};
    while (!stopping_) {
      session_ = impl::make_relay_session(context);
      const auto cursor = options_.cursor();
      const auto reason = co_await session_->run(cursor);
      session_.reset();
      if (stopping_) break;
      statistics_.failures.fetch_add(1, std::memory_order_relaxed);
      const auto delay = policy_.failed();
      sink_.on_disconnected(reason, delay);
      ErrorCode ignored;
      auto token = impl::into(ignored);
      backoff_.expires_after(delay);
      co_await backoff_.async_wait(token);
    }
  }

  const RelayClientOptions options_;
  FrameSink& sink_;
  std::optional<asio::ssl::context> tls_;  // reading the system's certificates takes a while
  asio::io_context io_{1};                 // one thread runs it
  std::shared_ptr<impl::Inbox> inbox_;
  impl::Timer backoff_;
  ReconnectPolicy policy_;
  RelayStatistics statistics_;
  std::shared_ptr<impl::RelaySession> session_;
  bool stopping_ = false;
  std::thread thread_;
};

RelayClient::RelayClient(RelayClientOptions options, FrameSink& sink)
    : impl_(std::make_unique<Impl>(std::move(options), sink)) {}

RelayClient::~RelayClient() = default;

void RelayClient::start() {
  impl_->start();
}

void RelayClient::stop() {
  impl_->stop();
}

const RelayStatistics& RelayClient::statistics() const {
  return impl_->statistics();
}

}  // namespace skua::transport
