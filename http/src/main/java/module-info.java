/// HTTP/1.1 and WebSocket on Gyre's public API.
module dev.gyre.http {
    requires transitive dev.gyre;
    requires static transitive org.jspecify; // in signatures

    exports dev.gyre.http;
}
