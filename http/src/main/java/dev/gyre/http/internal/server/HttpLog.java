package dev.gyre.http.internal.server;

/// The logger of the server. A class of its own, so that the logger is created with the first
/// message: it reads configuration files and jars, which would delay the first response.
final class HttpLog {
    static final System.Logger LOGGER = System.getLogger("dev.gyre.http");

    private HttpLog() {}
}
