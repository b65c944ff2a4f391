package dev.gyre.http.internal.message;

import dev.gyre.EventLoop;
import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// The head of a request, found where it lies: [#parse] looks at what has arrived so far and says whether it is
/// complete.
///
/// What it says depends on those bytes alone, so it does not matter in which pieces they came; the next call
/// begins anew. What is refused stays refused, and what is complete stays complete, whatever follows. Bytes
/// beyond the limits are never looked at.
///
/// ```java
/// switch (head.parse(data)) {
///     case 0 -> {}                              // what is unread comes again with more
///     case -1 -> answer(head.refusal());
///     default -> { handle(head); data.skip(head.length()); }
/// }
/// ```
///
/// **Memory.** The bytes are brought into an array that is reused (see [Window]), so nothing is allocated on
/// the way to a complete head, and it does not matter what becomes of the buffer; text is made when it is asked
/// for. All of it is valid until the next [#parse], which [#keep] prevents.
///
/// **Threads.** One at a time.
public final class RequestHead implements Headers {
    private final Window window;
    private final RequestLine line;
    private final Fields fields;
    private final Framing framing = new Framing(Framing.Section.REQUEST);

    // Loop thread only.
    private int length;
    private @Nullable Refusal refusal;

    /// @param maxTarget most bytes of a target
    /// @param maxHead most bytes of all, with the empty line at its end
    /// @param maxFields most header fields
    public RequestHead(int maxTarget, int maxHead, int maxFields) {
        if (maxTarget < 1 || maxHead < 1 || maxFields < 1) {
            throw new IllegalArgumentException(
                    "limits are at least 1, not " + maxTarget + ", " + maxHead + ", " + maxFields);
        }
        this.window = new Window(maxHead);
        this.line = new RequestLine(maxTarget);
        this.fields = new Fields(maxFields);
    }

    /// Looks for a head at the reading position, and takes nothing. One empty line before it belongs to it.
    ///
    /// @return how many bytes it has, with the empty line at its end; 0 if more is needed; -1 if it is refused
    /// @throws IllegalStateException if the head before is kept
    public int parse(Buffer data) {
        fields.requireNotKept();
        window.open(data);
        int at = parse(window.bytes(), window.end());
        while (at == 0 && window.widen(data)) {
            at = parse(window.bytes(), window.end());
        }
        if (at > 0) {
            window.used(at);
            length = at;
            return at;
        }
        boolean full = window.isFull();
        release();
        if (at == 0 && !full) {
            return 0;
        }
        refusal = at == 0 ? Refusal.HEAD_TOO_LARGE : Refusal.of(at);
        return -1;
    }

    /// @return behind the head; 0 if the end came before; or the code of a refusal
    private int parse(byte[] data, int end) {
        forget();
        fields.begin(data);
        int at = line.parse(data, end);
        if (at > 0) {
            at = fields.parse(data, at, end, framing);
        }
        if (at > 0) {
            int refused = finish(data);
            return refused < 0 ? refused : at;
        }
        return at;
    }

    private int finish(byte[] data) {
        boolean http10 = line.isHttp10();
        if (!framing.hasHost()) {
            if (!http10) {
                return Refusal.HOST_MISSING.code();
            }
        } else if (!line.isHost(data, framing.hostAt(), framing.hostEnd())) {
            return Refusal.HOST_MISMATCH.code();
        }
        return framing.finish(http10);
    }

    private void forget() {
        length = 0;
        refusal = null;
        line.clear();
        framing.clear();
    }

    /// Why it was refused.
    ///
    /// @throws IllegalStateException if the last [#parse] did not refuse
    public Refusal refusal() {
        Refusal why = refusal;
        if (why == null) {
            throw new IllegalStateException("nothing was refused: the last parse() was not -1");
        }
        return why;
    }

    // ------------------------------------------------------------------ the first line

    /// The method: one and the same instance for the registered ones.
    public String method() {
        String known = line.method();
        return known == null ? fields.text(line.methodAt(), line.methodEnd()) : known;
    }

    /// Whether it is one of `GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH`.
    public boolean isMethodKnown() {
        return line.method() != null;
    }

    /// The target without scheme and authority, new each time: `/path?query`, for `OPTIONS` also `*`, for `CONNECT`
    /// host and port. A path that was left out (`http://host?query`) is there as `/`.
    public String target() {
        String sent = fields.text(line.targetAt(), line.targetEnd());
        return isPathLeftOut() ? "/" + sent : sent;
    }

    /// Whether the target was sent as an address without a path, which means `/`: then [#targetAt()] is [#pathEnd()],
    /// and no byte is the path's.
    public boolean isPathLeftOut() {
        return length > 0 && line.targetAt() == line.pathEnd();
    }

    /// Where the path begins, behind scheme and authority if the target has them; from the head's beginning.
    public int targetAt() {
        return line.targetAt();
    }

    /// Where the `?` of the target is; [#targetEnd()] if there is none.
    public int pathEnd() {
        return line.pathEnd();
    }

    /// Where the space behind the target is.
    public int targetEnd() {
        return line.targetEnd();
    }

    /// A byte, from the head's beginning.
    public byte byteAt(int offset) {
        return fields.bytes()[Objects.checkIndex(offset, length)];
    }

    /// Whether it came by HTTP/1.0; otherwise it was HTTP/1.1.
    public boolean isHttp10() {
        return line.isHttp10();
    }

    // ------------------------------------------------------------------ what follows it

    /// How many bytes of content follow: 0 if none was announced; -1 if it comes in chunks.
    public long contentLength() {
        return framing.isChunked() ? -1 : Math.max(0, framing.length());
    }

    /// Whether content follows, or chunks, which may turn out to be empty.
    public boolean hasContent() {
        return framing.isChunked() || framing.length() > 0;
    }

    public boolean isChunked() {
        return framing.isChunked();
    }

    /// Whether the peer wants the connection kept for another request.
    public boolean keepsAlive() {
        return framing.keepsAlive(line.isHttp10());
    }

    /// Whether the peer waits for `100 Continue` before it sends content. Not by HTTP/1.0, nor without content.
    public boolean expectsContinue() {
        return framing.expectsContinue() && !line.isHttp10() && hasContent();
    }

    /// Whether the peer asks for another protocol: `Connection` lists `upgrade`, and there is an `Upgrade`
    /// field. Not by HTTP/1.0.
    public boolean asksForUpgrade() {
        return framing.asksForUpgrade() && !line.isHttp10();
    }

    // ------------------------------------------------------------------ its bytes

    /// How many bytes the head has; 0 if there is none.
    public int length() {
        return length;
    }

    /// Keeps everything until [#release]: for a request that is answered later. Another head has to be used for
    /// further requests meanwhile. Does nothing if that is done.
    ///
    /// @param loop whose request it is
    /// @throws IllegalStateException if there is no complete head
    public void keep(EventLoop loop) {
        Objects.requireNonNull(loop, "loop");
        fields.keep();
    }

    public boolean isKept() {
        return fields.isKept();
    }

    /// Forgets everything, and can be used for another request. Twice is safe.
    public void release() {
        forget();
        fields.release();
    }

    // ------------------------------------------------------------------ fields

    @Override
    public @Nullable String get(String name) {
        return fields.get(name);
    }

    @Override
    public List<String> all(String name) {
        return fields.all(name);
    }

    @Override
    public boolean contains(String name) {
        return fields.contains(name);
    }

    @Override
    public boolean lists(String name, String token) {
        return fields.lists(name, token);
    }

    @Override
    public int size() {
        return fields.size();
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> field) {
        fields.forEach(field);
    }

    /// The fields as text of their own, which needs no release.
    public Headers copy() {
        return fields.copy();
    }
}
