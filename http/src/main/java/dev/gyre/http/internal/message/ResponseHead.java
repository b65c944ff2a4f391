package dev.gyre.http.internal.message;

import java.util.Objects;

/// The head of a response, found where it lies, as [RequestHead] does it for requests.
///
/// Where the content ends depends on the request too: [#forMethod] says which it was, before or after [#parse].
///
/// **Threads.** One at a time.
public final class ResponseHead extends MessageHead {
    private static final long HTTP_1_1 = Octets.word("HTTP/1.1");
    private static final long HTTP_1_0 = Octets.word("HTTP/1.0");
    private static final int STATUS_AT = 9;
    private static final int STATUS_END = 12;

    // Loop thread only.
    private String method = "GET";
    private int status;
    private int phraseEnd;
    private boolean http10;

    /// @param maxHead most bytes of all, with the empty line at its end
    /// @param maxFields most header fields
    public ResponseHead(int maxHead, int maxFields) {
        if (maxHead < 1 || maxFields < 1) {
            throw new IllegalArgumentException(
                    "limits are at least 1, not " + maxHead + ", " + maxFields);
        }
        super(maxHead, maxFields, Framing.Section.RESPONSE);
    }

    /// Says the method of the request that is answered; `GET` until then. Stays for further heads.
    public void forMethod(String requestMethod) {
        method = Objects.requireNonNull(requestMethod, "requestMethod");
    }

    // ------------------------------------------------------------------ parsing

    @Override
    int firstLine(byte[] data, int end) {
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
        if (status < 100) {
            return Refusal.BAD_STATUS.code();
        }
        return data[STATUS_END] == Octets.SPACE ? STATUS_END + 1 : STATUS_END;
    }

    @Override
    int finish(byte[] data) {
        return framing.finish(http10);
    }

    /// The method stays: it is the request's.
    @Override
    void forgetFirstLine() {
        status = 0;
        phraseEnd = 0;
        http10 = false;
    }

    // ------------------------------------------------------------------ the first line

    /// From 100 to 999: those from 600 on are none, and answers all the same (RFC 9110, 15).
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
}
