package dev.gyre.io;

import dev.gyre.BlockingWork;
import dev.gyre.BoundedExecutor;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.net.LoopStream;
import dev.gyre.internal.net.Streams;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Transfers bytes in order in both directions over TCP or a Unix domain socket, optionally with
/// TLS.
///
/// ```java
/// Listener.tcp(loop, new InetSocketAddress(7777), stream -> stream.onData(stream::write));
///
/// Stream.connect(loop, new InetSocketAddress("localhost", 7777)).then(stream -> {
///     stream.onData(data -> IO.println(data.getText(UTF_8)));
///     stream.write("hello");
/// });
/// ```
///
/// **Reading** starts with a reader: a callback ([#onData]), a [Protocol], a promise ([#read()]) or
/// a target stream ([#pipe]). Unread bytes stay, and are delivered again before the next bytes. A
/// paused stream does not read, so the peer's buffers fill and slow it down. A paused stream still
/// detects a peer that leaves: a reset closes the stream, and [Protocol#onEndPending] reports an
/// end after unread bytes.
///
/// **Writing** copies the data and never waits. The next flush step, before the loop polls, sends
/// all output with one system call. Above the high-water mark `write` returns false, and the stream
/// pauses reading until the peer has accepted enough ([StreamConfig#readsUnderBackpressure()]).
/// Ignoring `false` buffers up to [StreamConfig#outputLimit()]; beyond it the stream is closed. All
/// `write` methods and [#lend] return and throw as [#write(Buffer)] does.
///
/// **Ending.** Each direction ends separately. When the peer ends its output, the stream ends its
/// own after the pending output, unless [#onEnd] is set. With both directions ended the stream is
/// closed. The peer sees an orderly end only after complete output, and a reset otherwise: see
/// [#pipe] and [#resetUnlessEnded]. [#onClose] is called once, as the last callback.
///
/// **Failure.** A peer that resets, stalls or floods causes a [CloseReason], not an exception. A
/// callback that throws closes its own stream only; the loop's [dev.gyre.FailurePolicy] handles the
/// throwable.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop.
///
/// Methods that return a `Stream` return this one.
public sealed interface Stream permits LoopStream {
    /// Connects with the default configuration.
    static Promise<Stream> connect(EventLoop loop, SocketAddress to) {
        return connect(loop, to, StreamConfig.DEFAULT);
    }

    /// Connects to a TCP or Unix domain address.
    ///
    /// A host name ([java.net.InetSocketAddress#createUnresolved]) is resolved outside the loop
    /// thread. Its addresses are tried one after the other with a small delay, alternating between
    /// IPv6 and IPv4. The first connection wins.
    ///
    /// The promise is rejected with a [dev.gyre.SystemCallException], a
    /// [java.net.UnknownHostException], or a [java.net.SocketTimeoutException] after
    /// [StreamConfig#connectTimeout()].
    ///
    /// @throws IllegalArgumentException if [StreamConfig#tls()] is a server's, or verifies a host
    ///     name and the address has none
    static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        return Streams.connect(loop, to, config);
    }

    // ------------------------------------------------------------------ reading

    /// Sets the callback for input. The buffer belongs to the stream and is valid until the
    /// callback returns.
    Stream onData(Consumer<? super Buffer> callback);

    /// Sets the callback for the end of input, called after all of it was read. Replaces the
    /// default, [#end()].
    Stream onEnd(Runnable callback);

    /// Returns the bytes that were unread when the input ended, such as an incomplete line; empty
    /// if all was read. Call it in [#onEnd] or [Protocol#onEnd] only. Valid until that returns.
    ///
    /// @throws IllegalStateException at other times: unread bytes are delivered again
    Buffer unread();

    /// Sets or replaces the protocol. It receives the unread input first, and the end of input also
    /// if its predecessor did. Replaces single callbacks.
    Stream protocol(Protocol protocol);

    /// Resolves with the next bytes, or with an empty buffer at the end of input. The buffer
    /// belongs to the stream and is valid until the next `read`. Unread bytes are delivered again.
    ///
    /// @throws IllegalStateException if another read is pending, or callbacks are set
    Promise<Buffer> read();

    /// Resolves with at least this many bytes; with fewer at the end of input only.
    ///
    /// @param atLeast at most [StreamConfig#inputLimit()]
    /// @throws IllegalStateException if another read is pending, or callbacks are set
    Promise<Buffer> read(int atLeast);

    /// Resolves once all input received before this call, including its end, has been delivered. A
    /// protocol uses it before a request, so that unsolicited input is not mistaken for the
    /// response.
    ///
    /// Takes one tick, because the kernel is queried. Under TLS an incomplete record does not
    /// count. Waits while the stream is paused or has no reader. Rejected with a
    /// [StreamClosedException] if the stream is closed before.
    Promise<@Nullable Void> inputDelivered();

    /// Pauses reading until [#resume()]. No callback for data or the end is called until then.
    void pause();

    /// Resumes reading.
    void resume();

    /// Returns whether reading is paused.
    boolean isPaused();

    /// Runs work on an executor and pauses the input until the work completes. So a peer cannot
    /// send faster than its requests are processed. The state is [StreamState#PROCESSING].
    ///
    /// ```java
    /// var compute = BoundedExecutor.platformThreads("compute", 4, 100);
    /// stream.onData(data -> {
    ///     byte[] image = data.getBytes();
    ///     stream.process(compute, _ -> shrink(image)).thenAccept(stream::write);
    /// });
    /// ```
    ///
    /// If the executor is full, the stream waits instead of failing. A stream has at most one unit
    /// of work, and streams wait in the order of their calls. The input resumes after the handlers
    /// of the promise, unless the program calls [#pause()] or [#resume()] before.
    ///
    /// The work must not use the stream or its buffers: copy the input before. A close of the
    /// stream cancels the work: waiting work never runs, running work is interrupted. Timeouts of
    /// the stream continue; [#idleTimeout] includes the time of the work.
    ///
    /// @return resolves with the result; rejected with the exception of the work, with a
    ///     [dev.gyre.CancelledException] if the stream closes before the work completes, or
    ///     with a [StreamClosedException] if it is closed already
    /// @throws IllegalStateException if the stream is processing already
    <T extends @Nullable Object> Promise<T> process(
            BoundedExecutor executor, BlockingWork<? extends T> work);

    // ------------------------------------------------------------------ writing

    /// Writes the readable bytes of a buffer, and consumes them. More than
    /// [StreamConfig#outputLimit()] of pending output, by default 16 MiB, closes the stream
    /// ([CloseReason#OUTPUT_LIMIT]), even if one call writes it: send larger data in parts,
    /// continued in [#onWritable].
    ///
    /// @return false above the high-water mark, or if the stream is closed and the data was dropped
    /// @throws IllegalStateException after [#end()] or [#close()]
    boolean write(Buffer data);

    /// Writes bytes.
    boolean write(byte[] data);

    /// Writes the bytes between a buffer's position and limit, and advances its position.
    boolean write(ByteBuffer data);

    /// Writes text in UTF-8.
    boolean write(String text);

    /// Writes the readable bytes of a buffer without copying them. The stream owns the buffer until
    /// the callback.
    ///
    /// @param returned called once the kernel has accepted all bytes, or the stream is closed
    boolean lend(Buffer data, Consumer<? super Buffer> returned);

    /// Sends a part of a file after the pending output, without copying it through user memory
    /// where possible. The file must stay open until the promise is settled.
    ///
    /// A part counts as 256 bytes toward the water marks and [StreamConfig#outputLimit()]. Beyond
    /// the limit the stream is closed, and the promises of all parts are rejected.
    ///
    /// @return resolves with the number of bytes sent: fewer if the file ends before
    Promise<Long> sendFile(Descriptor file, long offset, long bytes);

    /// Sets the callback for a stream that is writable again after `write` returned false.
    Stream onWritable(Runnable callback);

    /// Resolves once the kernel has accepted all output written before this call. Output before
    /// [#startTls] is sent in plaintext, later output encrypted. Rejected with a
    /// [StreamClosedException] if the stream is closed before.
    Promise<@Nullable Void> flushed();

    /// Returns the number of pending output bytes.
    long pending();

    // ------------------------------------------------------------------ pipes

    /// Writes all input to another stream at the speed of its peer, and ends its output when the
    /// input ends.
    ///
    /// The target's peer never mistakes partial data for complete data. Until this stream's input
    /// ends or [#end()] is called on the target, closing the target resets its connection, without
    /// `close_notify` under TLS. A graceful shutdown lets pipes finish within its deadline.
    ///
    /// @return resolves with the number of bytes; rejected if either stream is closed before the
    ///     end
    Promise<Long> pipe(Stream to);

    /// Pipes both ways, as a proxy does. Closes both streams if one is closed before its end. If
    /// one has ended both directions, the other still receives all its output, unless its write
    /// timeout expires.
    void join(Stream other);

    // ------------------------------------------------------------------ ending

    /// Ends the output after the pending bytes: the peer reads all of it, and then the end. Input
    /// continues. Idempotent.
    void end();

    /// Closes the stream once the pending output is sent and the peer has closed its side, or after
    /// [StreamConfig#lingerTimeout()]. Stops reading. Resets the target of an unfinished [#pipe]
    /// instead ([CloseReason#ABORTED]). Idempotent.
    void close();

    /// Closes as [#close()] does, with a cause chosen by the protocol. [#closeReason()] returns the
    /// cause and [dev.gyre.metrics.LoopMetrics#streamsClosed] counts it, independent of the peer.
    /// Does nothing if the stream is closing already.
    ///
    /// @param cause a timeout, or [CloseReason#CLOSED]
    /// @throws IllegalArgumentException for other causes
    void close(CloseReason cause);

    /// Closes the stream at once. Drops pending output. The peer sees a reset.
    void abort();

    /// Closes at once as [#abort()] does, with a cause chosen by the protocol.
    ///
    /// @param cause a timeout, or [CloseReason#ABORTED]
    /// @throws IllegalArgumentException for other causes
    void abort(CloseReason cause);

    /// Declares that only [#end()] or [#close()] completes the output. If a timeout or the loop's
    /// end closes the stream before, the peer sees a reset. Use it for data that is delimited by
    /// the end of the connection. By default, a stream without unsent output is closed by an
    /// orderly end.
    Stream resetUnlessEnded();

    /// Adds a callback for the close, called once; soon if the stream is closed already. All
    /// callbacks are called in order, even if one of them throws.
    Stream onClose(Consumer<? super CloseReason> callback);

    /// Returns whether the stream is neither closed nor closing.
    boolean isOpen();

    /// Returns why the stream was closed; null while it is open.
    @Nullable CloseReason closeReason();

    /// Returns the failure behind the close reason; null if absent.
    @Nullable Throwable failure();

    // ------------------------------------------------------------------ timeouts

    /// Sets the time without a byte in either direction after which the stream is closed.
    ///
    /// @param timeout zero for no timeout
    Stream idleTimeout(Duration timeout);

    /// Sets the time without input after which a stream that reads is closed.
    ///
    /// @param timeout zero for no timeout
    Stream readTimeout(Duration timeout);

    /// Sets the time after which the stream is closed if the peer accepts none of the pending
    /// output.
    ///
    /// @param timeout zero for no timeout
    Stream writeTimeout(Duration timeout);

    /// Limits how long [#close()] waits for the peer's end after all output is sent. For pending
    /// output, and as the maximum of this, [StreamConfig#lingerTimeout()] applies.
    Stream lingerAtMost(Duration timeout);

    // ------------------------------------------------------------------ TLS

    /// Starts TLS on this stream. Unread input is the first input of TLS. Callbacks stay. Later
    /// output waits for the handshake.
    ///
    /// @return resolves after the handshake; rejected with a [javax.net.ssl.SSLException] that
    ///     names the problem, with the stream closed
    /// @throws IllegalStateException if TLS was started before, or after [#end()]
    /// @throws IllegalArgumentException if a client's TLS verifies a host name, and none is known
    Promise<TlsSession> startTls(Tls tls);

    /// Returns the TLS session; null on plaintext streams and before the handshake completes.
    @Nullable TlsSession tls();

    // ------------------------------------------------------------------ state and counters

    /// Returns the loop that the stream belongs to. Any thread.
    EventLoop loop();

    // ------------------------------------------------------------------ moving

    /// Moves the stream to another loop, as [#moveTo(EventLoop, Consumer)] does.
    default void moveTo(EventLoop target) {
        moveTo(target, _ -> {});
    }

    /// Moves the stream to another loop. Unread input and pending output move along, each byte
    /// exactly once and in order.
    ///
    /// ```java
    /// stream.moveTo(other, moved -> moved.write("served by " + moved.loop()));
    /// ```
    ///
    /// From the call until `moved`, no callback is called and methods throw an
    /// [IllegalStateException]. All callbacks stay, and run on the target's thread afterwards.
    /// Timeouts continue. The listener that accepted the stream still counts it.
    ///
    /// - Promises requested before settle on the old loop, except that of [#inputDelivered()],
    ///   which is rejected. Buffers of [#lend] are copied and returned on the old loop.
    /// - If the stream closes before it has left, its close callbacks run on the old loop, and
    ///   `moved` is not called. If the target terminates before, the reason is
    ///   [CloseReason#LOOP_ENDED].
    /// - Pending data must fit into the target's [dev.gyre.LoopConfig#bufferMemory()]. If not, the
    ///   stream is closed ([CloseReason#MEMORY_LIMIT]).
    /// - A target that no thread runs adopts the stream when it runs next.
    ///
    /// @param target the loop to move to; if it is the stream's current loop, nothing moves and
    ///     `moved` is called in a microtask
    /// @param moved called on the target's thread, before all other callbacks there
    /// @throws IllegalStateException if the stream is closed, closing or moving, belongs to a pipe,
    ///     has a pending [#read()], [#process] or TLS handshake, or its protocol refuses
    ///     ([Protocol#beforeMove])
    /// @throws dev.gyre.LoopTerminatedException if the target is terminating or terminated
    void moveTo(EventLoop target, Consumer<? super Stream> moved);

    /// Returns a number that identifies the stream in logs, lists and traces. It is unique in the
    /// process, never reused, and stays when the stream moves. Any thread.
    long id();

    /// Returns whether events of this stream are recorded by a [dev.gyre.metrics.Trace].
    boolean isTraced();

    /// Records an event of the protocol, such as a request, if this stream is traced.
    ///
    /// @param detail called if the stream is traced
    void trace(Supplier<String> detail);

    /// Sets the route that the current exchange was matched to. If a [dev.gyre.metrics.Trace] has
    /// this route as its filter, this stream is traced until the next call. For servers with
    /// routes.
    void traceRoute(String pattern);

    /// Returns the peer's address.
    SocketAddress peer();

    /// Returns the local address.
    SocketAddress localAddress();

    /// Returns the state.
    StreamState state();

    /// Returns the state of the output.
    OutputState outputState();

    /// Returns the number of bytes received from the peer and delivered.
    long received();

    /// Returns the number of bytes that the kernel accepted.
    long sent();
}
