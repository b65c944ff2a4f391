/// Foundations of the other packages: confinement, stack reserve, counters, a single-threaded
/// queue, memory budget and the bounded executor.
@NullMarked
package dev.gyre.internal.base;

import org.jspecify.annotations.NullMarked;
