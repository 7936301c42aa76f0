#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>

namespace skua::sim {

/// The TLS side of a relay with a certificate made for this run. The authority that a client has to
/// trust lies in a file, which is removed at the end when it is a temporary one.
class Certificate {
 public:
  /// Valid for `host` only; empty: for localhost, 127.0.0.1 and ::1. `ca_file` empty: a temporary
  /// file. Throws std::runtime_error when the file cannot be written.
  Certificate(const std::string& host, const std::string& ca_file);
  ~Certificate();
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  boost::asio::ssl::context& context() { return context_; }
  const std::string& ca_file() const { return ca_file_; }

 private:
  boost::asio::ssl::context context_;
  std::string ca_file_;
  bool temporary_;
};

}  // namespace skua::sim
