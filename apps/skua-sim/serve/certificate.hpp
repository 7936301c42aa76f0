#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>

namespace skua::sim {

/// The TLS side of a relay with a certificate for this run. A file contains the authority that
/// clients must trust. A temporary file is removed at the end.
class Certificate {
 public:
  /// Creates a certificate that is valid for `host` only or, if `host` is empty, for localhost,
  /// 127.0.0.1 and ::1. If `ca_file` is empty, a temporary file is used. Throws std::runtime_error
  /// if the file cannot be written.
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
