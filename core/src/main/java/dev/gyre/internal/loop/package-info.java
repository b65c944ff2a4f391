/// The loop's machinery: its state, the tick, the lanes other threads submit through,
/// microtasks and shutdown.
@NullMarked
package dev.gyre.internal.loop;

import org.jspecify.annotations.NullMarked;
