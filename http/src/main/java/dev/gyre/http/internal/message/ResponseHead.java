package dev.gyre.http.internal.message;

import dev.gyre.EventLoop;
import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/// The head of a response, found where it lies, as [RequestHead] does it for requests.
///
/// Where the content ends depends on the request too: [#forMethod] says which it was, before or after [#parse].
///
/// **Threads.** One at a time.
public final class ResponseHead implements Headers {
    private static final long HTTP_1_1 = Octets.word("HTTP/1.1");
    private static final long HTTP_1_0 = Octets.word("HTTP/1.0");
    private static final int STATUS_AT = 9;
    private static final int STATUS_END = 12;

    private final Window window;
    private final Fields fields;
    private final Framing framing = new Framing(Framing.Section.RESPONSE);

    // Loop thread only.
    private String method = "GET";
    private int status;
    private int phraseEnd;
    private boolean http10;
    private int length;
    private @Nullable Refusal refusal;

    /// @param maxHead most bytes of all, with the empty line at its end
    /// @param maxFields most header fields
    public ResponseHead(int maxHead, int maxFields) {
        if (maxHead < 1 || maxFields < 1) {
            throw new IllegalArgumentException(
                    "limits are at least 1, not " + maxHead + ", " + maxFields);
        }
        this.window = new Window(maxHead);
        this.fields = new Fields(maxFields);
    }

    /// Says the method of the request that is answered; `GET` until then. Stays for further heads.
    public void forMethod(String requestMethod) {
        method = Objects.requireNonNull(requestMethod, "requestMethod");
    }

    /// Looks for a head at the reading position, and takes nothing.
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
        int at = statusLine(data, end);
        if (at > 0) {
            at = fields.parse(data, at, end, framing);
        }
        if (at > 0) {
            int refused = framing.finish(http10);
            return refused < 0 ? refused : at;
        }
        return at;
    }

    /// @return behind the line; 0 if the end came before; or the code of a refusal
    private int statusLine(byte[] data, int end) {
        long word = Octets.word(data, 0, end);
        if (word != HTTP_1_1 && word != HTTP_1_0) {
            return RequestLine.otherVersion(data, 0, end);
        }
        http10 = word == HTTP_1_0;
        int at = status(data, end);
        if (at <= 0) {
            return at;
        }
        int cr = Octets.firstControl(data, at, end);
        phraseEnd = cr;
        return Octets.textEnd(data, cr, end);
    }

    /// The space before an empty phrase is often left out, and nothing depends on it.
    ///
    /// @return where the phrase begins, or the line ends; 0; or the code of a refusal
    private int status(byte[] data, int end) {
        for (int at = STATUS_AT - 1; at <= STATUS_END; at++) {
            if (at == end) {
                return 0;
            }
            byte octet = data[at];
            boolean right =
                    at == STATUS_AT - 1
                            ? octet == Octets.SPACE
                            : at == STATUS_END
                                    ? octet == Octets.SPACE
                                            || octet == Octets.CR
                                            || octet == Octets.LF
                                    : Octets.DIGIT[octet & 0xff];
            if (!right) {
                return Refusal.BAD_STATUS.code();
            }
            if (at >= STATUS_AT && at < STATUS_END) {
                status = 10 * status + octet - '0';
            }
        }
        if (status < 100 || status > 599) {
            return Refusal.BAD_STATUS.code();
        }
        return data[STATUS_END] == Octets.SPACE ? STATUS_END + 1 : STATUS_END;
    }

    private void forget() {
        status = 0;
        phraseEnd = 0;
        http10 = false;
        length = 0;
        refusal = null;
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

    /// From 100 to 599.
    public int status() {
        return status;
    }

    /// What follows the status, new each time; often empty, and of no meaning.
    public String reasonPhrase() {
        return phraseEnd <= STATUS_END ? "" : fields.text(STATUS_END + 1, phraseEnd);
    }

    /// Whether it came by HTTP/1.0; otherwise it was HTTP/1.1.
    public boolean isHttp10() {
        return http10;
    }

    // ------------------------------------------------------------------ what follows it

    /// Whether there is no content whatever the fields say: the answer to `HEAD`, 1xx, 204, 304, and a tunnel.
    private boolean isBare() {
        return status < 200
                || status == 204
                || status == 304
                || method.equals("HEAD")
                || (method.equals("CONNECT") && status < 300);
    }

    /// How many bytes of content follow; -1 if only chunks or the end of the connection tell.
    public long contentLength() {
        if (isBare()) {
            return 0;
        }
        return framing.isChunked() ? -1 : framing.length();
    }

    /// Whether content follows, or what may turn out to be empty.
    public boolean hasContent() {
        return contentLength() != 0;
    }

    public boolean isChunked() {
        return !isBare() && framing.isChunked();
    }

    /// Whether the content ends where the connection does.
    public boolean isUntilClose() {
        return !isBare() && !framing.isChunked() && framing.length() < 0;
    }

    /// Whether the connection can be used for another request when the content is complete.
    public boolean keepsAlive() {
        return framing.keepsAlive(http10) && !isUntilClose();
    }

    // ------------------------------------------------------------------ its bytes

    /// How many bytes the head has; 0 if there is none.
    public int length() {
        return length;
    }

    /// As [RequestHead#keep].
    public void keep(EventLoop loop) {
        Objects.requireNonNull(loop, "loop");
        fields.keep();
    }

    public boolean isKept() {
        return fields.isKept();
    }

    /// Forgets everything but the method, and can be used for another response. Twice is safe.
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
