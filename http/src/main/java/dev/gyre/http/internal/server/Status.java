package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

/// Status codes: their reason phrases, their status lines, and whether they allow a body.
public final class Status {
    /// Logged for a request whose client left before the response, as by nginx. Never sent.
    static final int CLIENT_CLOSED_REQUEST = 499;

    private static final byte[][] LINES = new byte[600][];

    static {
        for (int status = 100; status < LINES.length; status++) {
            LINES[status] =
                    ("HTTP/1.1 " + status + " " + reason(status) + "\r\n").getBytes(US_ASCII);
        }
    }

    private Status() {}

    /// Returns the status line. The caller must not modify it.
    static byte[] line(int status) {
        return LINES[status];
    }

    /// Returns whether a response of that status never has a body.
    public static boolean isWithoutBody(int status) {
        return status < 200 || status == 204 || status == 304;
    }

    /// Returns whether a response of that status may have a body. A 205 is sent with an empty one
    /// (RFC 9110, 15.3.6).
    static boolean mayHaveBody(int status) {
        return status != 205 && !isWithoutBody(status);
    }

    /// Returns the reason phrase; empty if unknown.
    public static String reason(int status) {
        return switch (status) {
            case 100 -> "Continue";
            case 101 -> "Switching Protocols";
            case 103 -> "Early Hints";
            case 200 -> "OK";
            case 201 -> "Created";
            case 202 -> "Accepted";
            case 203 -> "Non-Authoritative Information";
            case 204 -> "No Content";
            case 205 -> "Reset Content";
            case 206 -> "Partial Content";
            case 300 -> "Multiple Choices";
            case 301 -> "Moved Permanently";
            case 302 -> "Found";
            case 303 -> "See Other";
            case 304 -> "Not Modified";
            case 307 -> "Temporary Redirect";
            case 308 -> "Permanent Redirect";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 402 -> "Payment Required";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 406 -> "Not Acceptable";
            case 407 -> "Proxy Authentication Required";
            case 408 -> "Request Timeout";
            case 409 -> "Conflict";
            case 410 -> "Gone";
            case 411 -> "Length Required";
            case 412 -> "Precondition Failed";
            case 413 -> "Content Too Large";
            case 414 -> "URI Too Long";
            case 415 -> "Unsupported Media Type";
            case 416 -> "Range Not Satisfiable";
            case 417 -> "Expectation Failed";
            case 421 -> "Misdirected Request";
            case 422 -> "Unprocessable Content";
            case 423 -> "Locked";
            case 425 -> "Too Early";
            case 426 -> "Upgrade Required";
            case 428 -> "Precondition Required";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 451 -> "Unavailable For Legal Reasons";
            case 500 -> "Internal Server Error";
            case 501 -> "Not Implemented";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            case 505 -> "HTTP Version Not Supported";
            case 507 -> "Insufficient Storage";
            case 511 -> "Network Authentication Required";
            default -> "";
        };
    }
}
