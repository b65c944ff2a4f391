package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import java.io.InputStream;
import java.util.function.Consumer;

/// The content of a message that arrives: collected, or as it comes.
///
/// Nothing is read until one of these is asked for, and only one can be; while nobody asks the peer is slowed down. What a
/// handler leaves unread when it has answered is read and dropped if it is little, otherwise the connection is closed; who
/// still reads it then hears of a failure, as nothing more will come.
///
/// **Limits.** Of a request at most [HttpConfig#maxBody] bytes, or what [HttpServer#maxBody] says for its route: more is
/// answered with 413. A route that collects less asks for less: `bytes(64 << 10)`. All that a loop collects at a time is of its share of the heap: a quarter of the
/// heap over the processors, and no more than [dev.gyre.LoopConfig#bufferMemory()]. Above that the answer is 503 with
/// `Retry-After`. Of time, [HttpConfig#bodyTimeout].
///
/// **Failure.** What a callback throws is a failure of the handler, as if that had thrown it.
///
/// **Threads.** As those of [Request].
public interface Body {
    /// How long it says to be: 0 if there is none, -1 if that is not known before its end.
    long length();

    /// Collects all of it.
    Promise<byte[]> bytes();

    /// Collects all of it, if it has no more bytes than that: otherwise the answer is 413.
    ///
    /// @param limit below [HttpConfig#maxBody], or that of the route, which it does not extend
    /// @throws HttpException 413 if it says to be longer
    Promise<byte[]> bytes(int limit);

    /// Collects all of it as text in UTF-8.
    Promise<String> text();

    /// The same, if it has no more bytes than that: otherwise the answer is 413.
    ///
    /// @param limit as that of [#bytes(int)]
    /// @throws HttpException 413 if it says to be longer
    Promise<String> text(int limit);

    /// Calls back for what arrives. The buffer is valid until the callback returns, and all of it counts as read.
    ///
    /// @return this body
    Body onData(Consumer<? super Buffer> callback);

    /// Calls back when everything has arrived, and the trailers are there. For who reads by [#onData]; the same goes for
    /// [#onFailure].
    ///
    /// @return this body
    Body onEnd(Runnable callback);

    /// Calls back, instead of [#onEnd], if the connection ends before the body does, a limit is exceeded, what comes
    /// is not HTTP, or the request is answered before all of it was read. An answer that has begun is then the handler's to end, or to fail by its promise; without
    /// a callback it is cut off. What it throws is logged, and changes nothing of that.
    ///
    /// @return this body
    Body onFailure(Consumer<? super Throwable> callback);

    /// Stops reading, until [#resume()].
    void pause();

    /// Goes on reading.
    void resume();

    /// Reads it on a virtual thread: that of a [BlockingHandler], never the loop's.
    InputStream stream();

    /// The trailer fields, after the end: empty if there are none.
    Headers trailers();
}
