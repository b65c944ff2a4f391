package dev.gyre.http.internal.files;

import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.io.Stream;

/// A request that a file is the answer to.
///
/// Loop thread only.
public interface FileExchange {
    Request request();

    Response response();

    /// The path as it was sent.
    String path();

    /// Whether nobody waits for the answer any more.
    boolean isOver();

    /// Answers with content that is in memory.
    Promise<?> send(FileHead head, byte[] content);

    /// Answers that the file has nothing of what is asked for: nothing that was set for its content is sent.
    ///
    /// @param varies whether there may be a compressed form of it
    Promise<?> nowhere(long length, boolean varies);

    /// Sends the head. So many bytes of content have to be put into the stream, unless [#hasContent()] says no; then
    /// [#complete], or [#cut()].
    Stream begin(FileHead head, long length);

    /// Whether content follows the head.
    boolean hasContent();

    /// Ends what was begun. If that is not all that was announced the connection is cut, as what follows would be taken for the
    /// rest of it.
    ///
    /// @param sent how many bytes of content were put into the stream
    /// @throws IllegalStateException if that is not all
    void complete(long sent);

    /// The content will never be complete: the peer has to see that.
    void cut();

    /// What an answer returns that has begun.
    Promise<?> begun();
}
