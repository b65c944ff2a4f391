package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.ErrorFormat;
import dev.gyre.http.JsonMapper;

import java.util.Map;

/// The built-in error formats. An enum, as lambdas would delay a server's first response.
public enum ErrorFormats implements ErrorFormat {
    TEXT {
        @Override
        public ErrorBody format(int status, String message, Map<String, String> errors) {
            return new ErrorBody("text/plain; charset=utf-8", (message + "\n").getBytes(UTF_8));
        }
    },

    PROBLEM_JSON {
        @Override
        public ErrorBody format(int status, String message, Map<String, String> errors) {
            String reason = Status.reason(status);
            return problem(
                    errors.isEmpty()
                            ? new Problem("about:blank", reason, status, message)
                            : new InvalidFields("about:blank", reason, status, message, errors));
        }
    };

    private static ErrorBody problem(Object members) {
        return new ErrorBody("application/problem+json", JsonMapper.writeOnly().write(members));
    }

    /// The members of RFC 9457, in its order.
    record Problem(String type, String title, int status, String detail) {}

    /// The same, with an extension member.
    record InvalidFields(
            String type, String title, int status, String detail, Map<String, String> errors) {}
}
