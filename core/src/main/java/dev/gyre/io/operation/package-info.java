/// Raw operations for authors of protocols: one kernel request each, on descriptors and buffers.
///
/// Most programs use the streams, listeners and datagrams of [dev.gyre.io] instead.
@NullMarked
package dev.gyre.io.operation;

import org.jspecify.annotations.NullMarked;
