package dev.gyre.http.internal.files;

import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.io.Stream;

/// A request whose response is a file.
///
/// Loop thread only.
public interface FileExchange {
    Request request();

    Response response();

    /// Returns the path as received.
    String path();

    /// Returns whether the exchange has ended, for example because the client disconnected.
    boolean isEnded();

    /// Sends a body from memory.
    Promise<?> send(FileHead head, byte[] body);

    /// Sends 416 (Range Not Satisfiable) without the headers set for the file.
    ///
    /// @param length the length of the file
    /// @param varies whether the file may have a compressed representation
    Promise<?> rangeNotSatisfiable(long length, boolean varies);

    /// Sends the head. The caller writes `length` bytes to the stream unless [#hasBody()] is false,
    /// and then calls [#complete] or [#abort()].
    Stream begin(FileHead head, long length);

    /// Returns whether a body follows the head.
    boolean hasBody();

    /// Ends the response after its body.
    ///
    /// @param sent the number of body bytes written to the stream
    /// @throws IllegalStateException if that is not the announced length. The connection is closed,
    ///     because the client would read the next response as the rest of the body.
    void complete(long sent);

    /// Closes the connection because the body stays incomplete.
    void abort();

    /// Returns the promise for a response that has begun.
    Promise<?> begun();
}
