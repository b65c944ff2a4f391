package dev.gyre.http.internal.server;

/// What the server has to say to whoever runs it.
///
/// A class of its own, so that the logger is made when there is something to say: the first of a process reads
/// configurations and jars, and the first answer would wait for it.
final class HttpLog {
    static final System.Logger LOGGER = System.getLogger("dev.gyre.http");

    private HttpLog() {}
}
