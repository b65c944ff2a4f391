/// HTTP/1.1 and WebSocket on Gyre's public API.
module dev.gyre.http {
    requires transitive dev.gyre;
    requires static org.jspecify; // not transitive, or users would need it: docs/adr/0005

    exports dev.gyre.http;
    exports dev.gyre.http.admin;
}
