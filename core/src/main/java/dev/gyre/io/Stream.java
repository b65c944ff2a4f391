package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.net.LoopStream;
import dev.gyre.internal.net.Streams;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;

/// A connection: bytes in order, both ways, over TCP, a Unix domain socket, or TLS on top of either.
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
/// **Reading.** Nothing is read until somebody wants it: a callback ([#onData]), a [Protocol], a promise ([#read()]), another
/// stream ([#pipe]). What a callback leaves unread stays, and comes again in front of what arrives next. While the stream is
/// paused nothing is read, and the peer is slowed down by its own full buffers. A stream notices a
/// leaving peer even then: a reset closes the stream, and [Protocol#onEndPending] reports an end
/// behind unread bytes.
///
/// **Writing** never waits and copies what it is given. What was written in one turn of the loop goes out with one call at
/// its end. Above the high-water mark `write` says no, and the stream stops reading what would only produce more output, until
/// the peer has taken enough; at the limit the connection is closed ([CloseReason#OUTPUT_LIMIT]).
///
/// **Ending.** Each direction ends by itself. When the peer ends its output the stream ends its own too, once all of it is
/// sent, unless [#onEnd] says otherwise; with both ended it is closed. The peer sees an orderly end only behind complete
/// output, and a reset otherwise: see [#pipe] and [#resetUnlessEnded]. However it comes about, [#onClose] is called once,
/// and nothing after it.
///
/// **Failure.** A peer that resets, stalls or floods is no exception but a [CloseReason]. A callback that throws costs its
/// own connection only, and the loop's [dev.gyre.FailurePolicy] hears of it.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop.
public sealed interface Stream permits LoopStream {
    /// Connects with the usual settings.
    static Promise<Stream> connect(EventLoop loop, SocketAddress to) {
        return connect(loop, to, StreamConfig.DEFAULT);
    }

    /// Connects to a TCP or Unix domain address. A host name ([java.net.InetSocketAddress#createUnresolved]) is looked up
    /// beside the loop, and its addresses are tried one after the other with a small delay, those of IPv6 and IPv4 in turn:
    /// the first that answers wins. The promise is rejected with a [dev.gyre.SystemCallException], a
    /// [java.net.UnknownHostException], or a [java.net.SocketTimeoutException] after
    /// [StreamConfig#connectTimeout].
    ///
    /// @throws IllegalArgumentException if [StreamConfig#tls()] is a server's, or verifies a name and there is none
    static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        return Streams.connect(loop, to, config);
    }

    // ------------------------------------------------------------------ reading

    /// Calls back for what arrives. The buffer is the stream's, and valid until the callback returns.
    ///
    /// @return this stream
    Stream onData(Consumer<? super Buffer> callback);

    /// Calls back when the peer has ended its output and everything was read, instead of [#end()].
    ///
    /// @return this stream
    Stream onEnd(Runnable callback);

    /// What was left unread when the input ended: the line without an end. Only in [#onEnd] and [Protocol#onEnd], and valid
    /// until those return; empty if everything was read.
    ///
    /// @throws IllegalStateException at other times: what is unread comes again by itself
    Buffer unread();

    /// Puts a protocol in charge, or another one in its place: that begins with what is unread so far, and is told of
    /// an end of the input also if the one before it was. Replaces the single callbacks.
    ///
    /// @return this stream
    Stream protocol(Protocol protocol);

    /// Promises the next bytes, or an empty buffer at the end of input. The buffer is the stream's: what is left in it comes
    /// again, and it is valid until the next `read`. One at a time; not together with callbacks.
    ///
    /// @throws IllegalStateException if another read is waiting, or callbacks are set
    Promise<Buffer> read();

    /// Promises a buffer with at least so many bytes; fewer only at the end of input.
    ///
    /// @param atLeast at most [StreamConfig#inputLimit]
    /// @throws IllegalStateException if another read is waiting, or callbacks are set
    Promise<Buffer> read(int atLeast);

    /// Promises that all that had arrived when this was called was handed to whoever reads, bytes as well as an end of input: for protocols in
    /// which the peer must not speak now, and what it says unasked is not to be taken for the answer to what is written next.
    ///
    /// The kernel is asked, so this takes a turn of the loop. Under TLS what has arrived of a record counts when the record is whole. While the
    /// stream is paused, or nobody reads, it waits. Rejected with a [StreamClosedException] if the stream is closed before.
    Promise<@Nullable Void> caughtUp();

    /// Stops reading, until [#resume()]: no callback for data or the end comes meanwhile.
    void pause();

    /// Goes on reading.
    void resume();

    boolean isPaused();

    // ------------------------------------------------------------------ writing

    /// Writes what is readable in the buffer, and empties it.
    ///
    /// @return whether to go on: false above the high-water mark, or if the stream is closed, when nothing is
    ///     written any more
    /// @throws IllegalStateException after [#end()] or [#close()]
    boolean write(Buffer data);

    /// Writes bytes.
    ///
    /// @return as [#write(Buffer)]
    boolean write(byte[] data);

    /// Writes what is between the position and the limit, and moves the position there.
    ///
    /// @return as [#write(Buffer)]
    boolean write(ByteBuffer data);

    /// Writes text in UTF-8.
    ///
    /// @return as [#write(Buffer)]
    boolean write(String text);

    /// Writes what is readable in a buffer without copying it. Until the callback the buffer belongs to the stream; the callback
    /// comes when all of it is with the kernel, or the stream is closed.
    ///
    /// @return as [#write(Buffer)]
    boolean lend(Buffer data, Consumer<? super Buffer> returned);

    /// Sends a part of a file behind what was written so far, without copying it through memory of ours where that is
    /// possible. The file must stay open until the promise is settled.
    ///
    /// However long it is, a part counts as 256 bytes toward the marks and the limit of what may wait
    /// ([StreamConfig#outputLimit]): above that the stream is closed, and the promises of all parts are rejected.
    ///
    /// @return how much was sent: less than asked for if the file ends before
    Promise<Long> sendFile(Descriptor file, long offset, long bytes);

    /// Calls back each time there is room again after `write` said no.
    ///
    /// @return this stream
    Stream onWritable(Runnable callback);

    /// Promises that everything written so far is with the kernel: what was written before [#secure] in the clear,
    /// what was written since then encrypted. Rejected with a [StreamClosedException] if the stream is closed before.
    Promise<@Nullable Void> flushed();

    /// How many bytes wait to be sent.
    long pending();

    // ------------------------------------------------------------------ from one to another

    /// Writes all that arrives here to another stream, as fast as that takes it, and ends that when this ends.
    ///
    /// The target's peer never mistakes partial data for all of it. Until this stream's input ends
    /// or [#end()] is called on the target, closing the target resets its connection, without
    /// `close_notify` under TLS. A graceful shutdown lets pipes finish within its deadline.
    ///
    /// @return how many bytes it was; rejected if either is closed before the end
    Promise<Long> pipe(Stream to);

    /// Pipes both ways, as a proxy does. Closes both streams if one is closed before its end. If
    /// one has ended both directions, the other still receives all its output, unless its write
    /// timeout expires.
    void join(Stream other);

    // ------------------------------------------------------------------ ending

    /// Ends the output behind what was written: the peer reads all of it, and then the end. Input goes on. Twice is safe.
    void end();

    /// Closes when what was written is sent and the peer has closed its side too, or has done nothing about it for
    /// [StreamConfig#lingerTimeout]; nothing is read any more. The target of an unfinished [#pipe] is reset instead
    /// ([CloseReason#ABORTED]). Twice is safe.
    void close();

    /// Closes as [#close()] does, with a cause chosen by the protocol. [#closeReason()] returns the
    /// cause and [dev.gyre.metrics.LoopMetrics#streamsClosed] counts it, independent of the peer.
    /// Does nothing if the stream is closing already.
    ///
    /// @param cause a timeout, or [CloseReason#CLOSED] for none
    /// @throws IllegalArgumentException if it is another
    void close(CloseReason cause);

    /// Closes at once; what was written and is not sent is dropped, and the peer sees a reset.
    void abort();

    /// Closes at once as [#abort()] does, with a cause chosen by the protocol.
    ///
    /// @param cause a timeout, or [CloseReason#ABORTED] for none
    /// @throws IllegalArgumentException if it is another
    void abort(CloseReason cause);

    /// Declares that only [#end()] or [#close()] completes the output. If a timeout or the loop's
    /// end closes the stream before, the peer sees a reset. Use it for data that is delimited by
    /// the end of the connection. By default, a stream without unsent output is closed by an
    /// orderly end.
    ///
    /// @return this stream
    Stream resetUnlessEnded();

    /// Calls back once when the stream is closed, for whatever reason.
    ///
    /// @return this stream
    Stream onClose(Consumer<? super CloseReason> callback);

    /// Whether it has not been closed, nor begun to be.
    boolean isOpen();

    /// Why it was closed; null while it is not.
    @Nullable CloseReason closeReason();

    /// What went wrong, where the reason has more to tell; null otherwise.
    @Nullable Throwable failure();

    // ------------------------------------------------------------------ time

    /// Closes the stream when nothing has been received or sent for so long.
    ///
    /// @param timeout zero for never
    /// @return this stream
    Stream idleTimeout(Duration timeout);

    /// Closes the stream when nothing has been received for so long while somebody wants to read.
    ///
    /// @param timeout zero for never
    /// @return this stream
    Stream readTimeout(Duration timeout);

    /// Closes the stream when output waits and the peer has taken nothing for so long.
    ///
    /// @param timeout zero for never
    /// @return this stream
    Stream writeTimeout(Duration timeout);

    /// Has [#close()] wait no longer than this for the peer's end, when all output is sent. While some is left the peer
    /// has [StreamConfig#lingerTimeout] to take it, which is also the most that this can be.
    ///
    /// @return this stream
    Stream lingerAtMost(Duration timeout);

    // ------------------------------------------------------------------ TLS

    /// Begins TLS on this stream, with what is unread so far as its first bytes. Callbacks stay; what is written from
    /// now on waits for the handshake.
    ///
    /// @return the end of the handshake; rejected with a [javax.net.ssl.SSLException] that names what is wrong, and the
    ///     stream is closed then
    /// @throws IllegalStateException if TLS has begun already, or after [#end()]
    /// @throws IllegalArgumentException if a client's verifies a name, and there is none
    Promise<TlsSession> secure(Tls tls);

    /// What the handshake has agreed on; null without TLS.
    @Nullable TlsSession tls();

    // ------------------------------------------------------------------ looking

    EventLoop loop();

    /// Where the peer is.
    SocketAddress peer();

    /// Where this end is.
    SocketAddress local();

    /// What it is doing.
    StreamState state();

    /// How its output stands.
    OutputState output();

    /// How many bytes have been received from the peer and handed on.
    long received();

    /// How many bytes have been sent to the kernel.
    long sent();
}
