#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "pipeline/admitted_message.hpp"
#include "pipeline/decoder_services.hpp"

namespace skua::pipeline {

/// Decodes the messages of one kind of source into events. There is one subclass for each kind. Its
/// DecodeThread calls it on one thread, except for `close`.
class AnyDecoder {
 public:
  virtual ~AnyDecoder() = default;

  /// Passes the events of a message to the workers, or keeps the message until later. An exception
  /// makes a dead letter of the message (guard_message).
  virtual void take(AdmittedMessage& message) = 0;
  /// Processes the messages that the decoder keeps. It is called after each message and each
  /// answer, and from time to time. Returns whether it must be called again soon, because the
  /// decoder keeps messages that wait for the clock.
  virtual bool tick() { return false; }

  /// Reports that no more messages come. `take` then waits for nothing more. Any thread may call
  /// it.
  virtual void close() {}
  /// Whether `take` waits for answers. If so, the messages behind the current one are not a
  /// backlog.
  virtual bool waits_in_place() const { return false; }
  /// Returns the number of unfinished messages. It is called after the thread has ended.
  virtual std::size_t abandoned() const = 0;
};

/// Makes a decoder for a thread.
using MakeDecoder = std::function<std::unique_ptr<AnyDecoder>(DecoderServices)>;

/// A thread with a queue of messages, and the decoder that takes them. All messages of an account
/// go to the same thread, which keeps their order. Accounts take turns. The in-flight list bounds
/// the queue. An exception that no message has caused is a fatal error and ends the thread.
class DecodeThread {
 public:
  DecodeThread(DecoderServices services, const MakeDecoder& make);
  ~DecodeThread();
  DecodeThread(const DecodeThread&) = delete;
  DecodeThread& operator=(const DecodeThread&) = delete;

  /// Adds a message to the queue. Any thread may call it, but all messages of one account must come
  /// from one thread.
  void push(AdmittedMessage message);
  /// Reports that no more messages come. The thread ends when all messages are decoded. Messages
  /// that wait for an answer stay unfinished.
  void close();
  void join();
  /// Returns the number of messages and answers in the queue. Any thread may call it.
  std::size_t backlog() const;
  /// Returns the number of messages that the thread left unfinished. Call it after `join`.
  std::size_t abandoned() const { return decoder_->abandoned(); }

 private:
  void run();

  const DispatchServices services_;
  const std::shared_ptr<DecodeQueue> queue_;  // shared, because answers may come after the end
  const std::unique_ptr<AnyDecoder> decoder_;
  std::thread thread_;
};

}  // namespace skua::pipeline
