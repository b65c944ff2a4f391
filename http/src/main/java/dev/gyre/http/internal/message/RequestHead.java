package dev.gyre.http.internal.message;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

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
public final class RequestHead extends MessageHead {
    private final RequestLine line;

    // Loop thread only.
    private @Nullable String refusedMethod;
    private @Nullable String refusedTarget;

    /// @param maxTarget most bytes of a target
    /// @param maxHead most bytes of all, with the empty line at its end
    /// @param maxFields most header fields
    public RequestHead(int maxTarget, int maxHead, int maxFields) {
        if (maxTarget < 1 || maxHead < 1 || maxFields < 1) {
            throw new IllegalArgumentException(
                    "limits are at least 1, not " + maxTarget + ", " + maxHead + ", " + maxFields);
        }
        super(maxHead, maxFields, Framing.Section.REQUEST);
        this.line = new RequestLine(maxTarget);
    }

    // ------------------------------------------------------------------ parsing

    /// One empty line before it belongs to it.
    @Override
    int firstLine(byte[] data, int end) {
        refusedMethod = null;
        refusedTarget = null;
        return line.parse(data, end);
    }

    @Override
    int finish(byte[] data) {
        boolean http10 = line.isHttp10();
        if (!framing.hasHost()) {
            if (!http10) {
                return Refusal.HOST_MISSING.code();
            }
        } else if (line.hasAuthority()) {
            // The target's host overrides the Host header (RFC 9112, 3.2.2).
            fields.replaceValue(framing.hostAt(), line.authorityAt(), line.authorityEnd());
        }
        return framing.finish(http10);
    }

    @Override
    void forgetFirstLine() {
        line.clear();
    }

    @Override
    void noteRefused() {
        if (line.methodEnd() > 0) {
            refusedMethod = method();
        }
        int from = line.methodEnd() + 1; // As it was sent, also with a host in front.
        if (line.targetEnd() > from) {
            refusedTarget = fields.text(from, line.targetEnd());
        }
    }

    /// The method of what the last [#parse] refused; null if it did not get that far.
    public @Nullable String refusedMethod() {
        return refusedMethod;
    }

    /// The target of what the last [#parse] refused, up to where it is wrong; null if it did not get that far.
    public @Nullable String refusedTarget() {
        return refusedTarget;
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
        return length() > 0 && line.targetAt() == line.pathEnd();
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
        return fields.bytes()[Objects.checkIndex(offset, length())];
    }

    /// A part of it as text, from the head's beginning.
    public String text(int from, int to) {
        Objects.checkFromToIndex(from, to, length());
        return fields.text(from, to);
    }

    /// Whether the target is an `https` address.
    public boolean isHttps() {
        return line.isHttps();
    }

    /// Whether it came by HTTP/1.0; otherwise it was HTTP/1.1, or a later minor version, which is the same here.
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
}
