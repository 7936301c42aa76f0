#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace skua::cli {
namespace {

/// Switches to the alternate screen, hides the cursor, and switches off automatic wrapping at the
/// right margin.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr std::array kEvents = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// The former modes of the terminal, for the handler of crashes.
termios former_of_crash{};

void restore_and_crash(int number) {
  // After this function the default action of the signal follows, because SA_RESETHAND is set.
  const auto written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  static_cast<void>(written);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &former_of_crash);
  ::raise(number);
}

void set_crash_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int number : kCrashes) ::sigaction(number, &action, nullptr);
}

void require(bool success, const char* what) {
  if (!success) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

bool Terminal::is_available() {
  const char* const type = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && type != nullptr &&
         *type != '\0' && std::string_view(type) != "dumb";
}

Terminal::Terminal() {
  require(::tcgetattr(STDIN_FILENO, &former_) == 0, "the modes of the terminal cannot be read");
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kEvents) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, &former_mask_);
  signals_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  woken_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  require(signals_ >= 0 && woken_ >= 0, "signals cannot be read");
  former_of_crash = former_;
  set_crash_handler(restore_and_crash);
  enter();
}

Terminal::~Terminal() {
  leave();
  set_crash_handler(SIG_DFL);
  ::close(signals_);
  ::close(woken_);
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

top::Size Terminal::size() {
  constexpr std::size_t kMostRows = 500;
  constexpr std::size_t kMostColumns = 1'000;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {std::min<std::size_t>(size.ws_row, kMostRows),
          std::min<std::size_t>(size.ws_col, kMostColumns)};
}

bool Terminal::has_colours() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

void Terminal::enter() {
  termios modes = former_;
  // Ctrl-C and Ctrl-Z still send signals. Ctrl-S is switched off, because it would block writes.
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &modes);
  write(kEnter);
}

void Terminal::leave() {
  // The flag is cleared, because the screen must be restored even after a signal to end.
  is_over_ = false;
  write(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &former_);
}

void Terminal::write(std::string_view text) {
  // A terminal that is ready takes this number of bytes without blocking.
  constexpr std::size_t kChunk = 256;
  while (!text.empty() && !is_over_) {
    std::array<pollfd, 2> ready = {{{STDOUT_FILENO, POLLOUT, 0}, {signals_, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), -1);
    if ((ready[0].revents & POLLOUT) != 0) {
      const auto size = ::write(STDOUT_FILENO, text.data(), std::min(text.size(), kChunk));
      if (size < 0 && errno != EINTR && errno != EAGAIN) is_over_ = true;
      if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    } else if (ready[0].revents != 0) {
      is_over_ = true;
    } else if (ready[1].revents != 0) {
      // A signal arrived while the terminal takes no bytes, so the rest of the text is dropped.
      return;
    }
  }
}

Terminal::Event Terminal::wait(std::chrono::milliseconds time) {
  Event event;
  std::array<pollfd, 3> ready = {
      {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}, {woken_, POLLIN, 0}}};
  if (::poll(ready.data(), ready.size(), static_cast<int>(time.count())) > 0) {
    if (ready[1].revents != 0) take_signals(event);
    if (ready[0].revents != 0) take_keys(event);
    std::uint64_t count = 0;
    if (ready[2].revents != 0 && ::read(woken_, &count, sizeof count) < 0) is_over_ = true;
  }
  event.is_over = is_over_;
  return event;
}

void Terminal::wake() const {
  const std::uint64_t one = 1;
  // The write fails only if the counter is full, and then the wait ends anyway.
  const auto written = ::write(woken_, &one, sizeof one);
  static_cast<void>(written);
}

void Terminal::take_signals(Event& event) {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    take_signal(static_cast<int>(info.ssi_signo), event);
  }
}

void Terminal::take_signal(int number, Event& event) {
  switch (number) {
    case SIGWINCH:
      event.is_redraw_due = true;
      return;
    case SIGTSTP:
      leave();
      ::kill(::getpid(), SIGSTOP);
      return;
    case SIGCONT:
      enter();
      event.is_redraw_due = true;
      return;
    default:
      is_over_ = true;
  }
}

void Terminal::take_keys(Event& event) {
  std::array<char, 1024> bytes{};
  const auto size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (size > 0) {
    event.keys.assign(bytes.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
    is_over_ = true;
  }
}

}  // namespace skua::cli
