package dev.gyre.http;

/// Thrown by a handler, or what its promise is rejected with, to answer with a status other than 500.
///
/// ```java
/// throw new HttpException(404, "no user " + id);
/// ```
public final class HttpException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;

    /// @param status from 400 to 599
    /// @param message the body of the answer, seen by the peer
    /// @throws IllegalArgumentException if the status is none of an error
    public HttpException(int status, String message) {
        // Part of an ordinary answer: nobody looks at where it was thrown.
        super(message, null, false, false);
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException(
                    "an error's status is from 400 to 599, not " + status);
        }
        this.status = status;
    }

    /// What the request is answered with.
    public int status() {
        return status;
    }
}
