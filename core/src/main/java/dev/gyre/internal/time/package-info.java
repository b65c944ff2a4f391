/// The loop's cached clock and its timers.
@NullMarked
package dev.gyre.internal.time;

import org.jspecify.annotations.NullMarked;
