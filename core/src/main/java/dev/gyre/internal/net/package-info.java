/// Streams, listeners, datagrams and connecting: the implementation of the sockets in
/// `dev.gyre.io`.
@NullMarked
package dev.gyre.internal.net;

import org.jspecify.annotations.NullMarked;
