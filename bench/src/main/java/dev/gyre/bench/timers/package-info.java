/// Benchmarks of timers while many are outstanding, compared with other implementations.
@NullMarked
package dev.gyre.bench.timers;

import org.jspecify.annotations.NullMarked;
