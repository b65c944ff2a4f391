/// The counters of a loop and the observer of its problems.
@NullMarked
package dev.gyre.metrics;

import org.jspecify.annotations.NullMarked;
