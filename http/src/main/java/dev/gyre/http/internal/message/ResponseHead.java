package dev.gyre.http.internal.message;

import java.util.Objects;

/// The head of a response, parsed as [RequestHead] is. The end of the body also depends on the
/// request's method: see [#forMethod].
///
/// **Threads.** One at a time.
public final class ResponseHead extends MessageHead {
    private static final long HTTP_1_1 = ByteScan.word("HTTP/1.1");
    private static final long HTTP_1_0 = ByteScan.word("HTTP/1.0");
    private static final int STATUS_AT = 9;
    private static final int STATUS_END = 12;

    // Loop thread only.
    private String method = "GET";
    private int status;
    private int phraseEnd;
    private boolean http10;

    /// @param maxBytes the maximum length, with the empty line
    /// @param maxCount the maximum of headers
    public ResponseHead(int maxBytes, int maxCount) {
        if (maxBytes < 1 || maxCount < 1) {
            throw new IllegalArgumentException(
                    "limits must be positive: " + maxBytes + ", " + maxCount);
        }
        super(maxBytes, maxCount, Framing.Section.RESPONSE);
    }

    /// Sets the request's method for this and later responses, before or after [#parse]. Default
    /// `GET`.
    public void forMethod(String requestMethod) {
        method = Objects.requireNonNull(requestMethod, "requestMethod");
    }

    @Override
    int parseFirstLine(byte[] data, int end) {
        long word = ByteScan.word(data, 0, end);
        if (word != HTTP_1_1 && word != HTTP_1_0) {
            return RequestHead.versionError(data, 0, end);
        }
        http10 = word == HTTP_1_0;
        int at = parseStatus(data, end);
        if (at <= 0) {
            return at;
        }
        phraseEnd = ByteScan.firstControl(data, at, end);
        return ByteScan.textEnd(data, phraseEnd, end);
    }

    /// Also accepts a missing space before an empty phrase, which is common and harmless.
    ///
    /// @return the start of the phrase, or the end of the line; 0; or an error code
    private int parseStatus(byte[] data, int end) {
        for (int at = STATUS_AT - 1; at <= STATUS_END; at++) {
            if (at == end) {
                return 0;
            }
            byte octet = data[at];
            boolean isDigit = at >= STATUS_AT && at < STATUS_END;
            boolean endsLine = at == STATUS_END && (octet == ByteScan.CR || octet == ByteScan.LF);
            if (isDigit ? !ByteScan.DIGIT[octet & 0xff] : octet != ByteScan.SPACE && !endsLine) {
                return ParseError.BAD_STATUS.code();
            }
            if (isDigit) {
                status = 10 * status + octet - '0';
            }
        }
        if (status < 100) {
            return ParseError.BAD_STATUS.code();
        }
        return data[STATUS_END] == ByteScan.SPACE ? STATUS_END + 1 : STATUS_END;
    }

    @Override
    int finish(byte[] data) {
        return framing.finish(http10);
    }

    /// Keeps the method, which is the request's.
    @Override
    void clearFirstLine() {
        status = 0;
        phraseEnd = 0;
        http10 = false;
    }

    /// Returns the status, from 100 to 999. Those from 600 on are undefined but accepted (RFC 9110,
    /// 15).
    public int status() {
        return status;
    }

    /// Returns the reason phrase; often empty.
    public String reasonPhrase() {
        return phraseEnd <= STATUS_END ? "" : slice(STATUS_END + 1, phraseEnd);
    }

    /// Returns whether the version is HTTP/1.0.
    public boolean isHttp10() {
        return http10;
    }

    /// Whether there is no body, whatever the headers say.
    private boolean isBodiless() {
        return status < 200
                || status == 204
                || status == 304
                || method.equals("HEAD")
                || (method.equals("CONNECT") && status < 300);
    }

    /// Returns the length of the body; -1 if chunks or the end of the connection delimit it.
    public long contentLength() {
        if (isBodiless()) {
            return 0;
        }
        return framing.isChunked() ? -1 : framing.length();
    }

    public boolean isChunked() {
        return !isBodiless() && framing.isChunked();
    }

    /// Returns whether the end of the connection delimits the body.
    public boolean isUntilClose() {
        return !isBodiless() && !framing.isChunked() && framing.length() < 0;
    }

    /// Returns whether the connection can be reused after the body.
    public boolean keepsAlive() {
        return framing.keepsAlive(http10) && !isUntilClose();
    }
}
