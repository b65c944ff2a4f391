/// What timers cost while many of them are outstanding, beside those of the peers.
@NullMarked
package dev.gyre.bench.timers;

import org.jspecify.annotations.NullMarked;
