/// Streams, listeners, datagrams, TLS, buffers and descriptors.
///
/// [dev.gyre.io.Stream] and [dev.gyre.io.Listener] are the entry points. Raw operations for authors
/// of protocols are in [dev.gyre.io.operation].
@NullMarked
package dev.gyre.io;

import org.jspecify.annotations.NullMarked;
