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

    /// Sends the head. So many bytes of content, -1 for as many as nobody will ever know, have to be put into the stream, unless [#hasContent()] says no; then
    /// [#complete()], or [#cut()].
    Stream begin(FileHead head, long length);

    /// Whether content follows the head.
    boolean hasContent();

    void complete();

    /// The content will never be complete: the peer has to see that.
    void cut();

    /// What an answer returns that has begun.
    Promise<?> begun();
}
