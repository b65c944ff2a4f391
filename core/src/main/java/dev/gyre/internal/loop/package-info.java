/// The loop: its state, the tick, the lanes that other threads submit through, microtasks and
/// shutdown.
@NullMarked
package dev.gyre.internal.loop;

import org.jspecify.annotations.NullMarked;
