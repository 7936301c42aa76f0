#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "pipeline/admitted_message.hpp"
#include "pipeline/decoder_services.hpp"

namespace skua::pipeline {

/// Decodes the messages of one kind of source into events: one subclass for each kind. Its
/// DecodeThread calls it, on one thread, except `close`.
class AnyDecoder {
 public:
  virtual ~AnyDecoder() = default;

  /// Passes the events of a message to the workers, or keeps the message until later. An exception
  /// makes a dead letter of the message (guard_message).
  virtual void take(AdmittedMessage& message) = 0;
  /// Called after each message and each answer, and from time to time. Looks at the messages that
  /// it keeps. Returns whether it must be called again soon, because it keeps some that the clock
  /// lets go.
  virtual bool tick() { return false; }

  /// No more messages come: `take` waits for nothing more. Any thread.
  virtual void close() {}
  /// Whether `take` waits for answers. Then the messages behind it are no backlog.
  virtual bool waits_in_place() const { return false; }
  /// Messages that are unfinished. Called after the thread has ended.
  virtual std::size_t abandoned() const = 0;
};

/// Makes a decoder for a thread.
using MakeDecoder = std::function<std::unique_ptr<AnyDecoder>(DecoderServices)>;

/// A thread with a queue of messages, and the decoder that takes them. All messages of an account
/// go to the same thread, which keeps their order; accounts take turns. The in-flight list bounds
/// the queue. An exception that is not the fault of a message is a fatal error and ends the thread.
class DecodeThread {
 public:
  DecodeThread(DecoderServices services, const MakeDecoder& make);
  ~DecodeThread();
  DecodeThread(const DecodeThread&) = delete;
  DecodeThread& operator=(const DecodeThread&) = delete;

  /// Any thread; the messages of one account from one thread.
  void push(AdmittedMessage message);
  /// No more messages come. The thread ends when all are decoded. Messages that wait for an answer
  /// stay unfinished.
  void close();
  void join();
  /// Messages and answers in the queue. Any thread.
  std::size_t backlog() const;
  /// Messages that the thread left unfinished. After `join`.
  std::size_t abandoned() const { return decoder_->abandoned(); }

 private:
  void run();

  const DispatchServices services_;
  const std::shared_ptr<DecodeQueue> queue_;  // shared: answers may come after the end
  const std::unique_ptr<AnyDecoder> decoder_;
  std::thread thread_;
};

}  // namespace skua::pipeline
