/// A client for tests of HTTP servers, in simulated worlds and over real sockets.
module dev.gyre.http.testkit {
    requires transitive dev.gyre.http;
    requires transitive dev.gyre.testkit;
    requires static org.jspecify; // not transitive, or users would need it: docs/adr/0005

    exports dev.gyre.http.testkit;
}
