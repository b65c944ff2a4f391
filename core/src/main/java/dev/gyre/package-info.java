/// The event loop with timers, promises and cancellations, its configuration and its exceptions.
@NullMarked
package dev.gyre;

import org.jspecify.annotations.NullMarked;
