package dev.gyre.io;

/// TLS.
public final class Tls {
    private Tls() {}
}
