package dev.gyre.http.internal.server;

import dev.gyre.http.Response;

/// Header fields that an answer has whatever becomes of its handler.
public final class LastingFields {
    private LastingFields() {}

    /// Adds a field that stays when the handler fails, and an error is answered.
    public static void add(Response response, String name, String value) {
        if (response instanceof ServerResponse known) {
            known.addLasting(name, value);
        } else {
            response.addHeader(name, value);
        }
    }
}
