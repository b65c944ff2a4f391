package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.body.FilePart;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.function.Consumer;

/// A file of a multipart body, as it arrives. See [Body#multipart(java.util.function.Function)].
///
/// Its data is read by one of [#saveTo(Path)], [#bytes()], [#text()] and [#onData], called within
/// the function that receives the part, or later. Until then the client is slowed down. Data of a
/// part whose promise is settled without reading it is skipped.
///
/// **Failure.** If the client disconnects, is too slow, exceeds a limit or sends a malformed body,
/// the promises of this part are rejected, and [#onFailure] is called.
///
/// **Threads.** Loop thread, also in blocking handlers.
public sealed interface Part permits FilePart {
    /// Returns the name of the form field.
    String name();

    /// Returns the name that the client gave the file, without directories, control characters and
    /// dots at its start, 255 bytes at most; `file` if nothing remains. It is safe as a name in a
    /// directory of uploads, but chosen by the client.
    String fileName();

    /// Returns the media type that the client gave; `null` if absent. It may be wrong.
    @Nullable String contentType();

    /// Returns the headers of the part.
    Headers headers();

    /// Returns the number of bytes received so far.
    long size();

    /// Collects the data in memory.
    Promise<byte[]> bytes();

    /// Collects the data as text in UTF-8. The promise is rejected with 400 if it is not UTF-8.
    Promise<String> text();

    /// Saves the data in a new file with a random name, and resolves with its path.
    ///
    /// Data is written by other threads, never by the loop. It goes to a temporary file in the same
    /// directory, which is renamed when it is complete. If the upload fails later, all its files
    /// and the directories created for them are deleted.
    ///
    /// @param directory created if absent
    Promise<Path> saveTo(Path directory);

    /// Saves the data as [#saveTo(Path)] does, under a name. The promise is rejected with 409 if
    /// the file exists.
    ///
    /// @param fileName a name without directories, such as [#fileName()]
    /// @throws IllegalArgumentException if the name contains a directory
    /// @throws HttpException 400 if the file system cannot encode the name
    Promise<Path> saveTo(Path directory, String fileName);

    /// Calls back for data as it arrives. The buffer is valid until the callback returns. If the
    /// callback throws, the upload fails.
    ///
    /// @return this part
    Part onData(Consumer<? super Buffer> callback);

    /// Calls back when all data has arrived. Set it before [#onData].
    ///
    /// @return this part
    Part onEnd(Runnable callback);

    /// Calls back, instead of [#onEnd], if the data will not be complete. Set it before [#onData].
    ///
    /// @return this part
    Part onFailure(Consumer<? super Throwable> callback);

    /// Stops [#onData] until [#resume()]. The client is slowed down.
    void pause();

    /// Resumes [#onData].
    void resume();
}
