/// A client for tests of HTTP servers. The same test runs in a simulated world and over real
/// sockets.
@NullMarked
package dev.gyre.http.testkit;

import org.jspecify.annotations.NullMarked;
