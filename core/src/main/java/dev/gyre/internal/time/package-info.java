/// The loop's cached clock and the exact order of its timers.
@NullMarked
package dev.gyre.internal.time;

import org.jspecify.annotations.NullMarked;
