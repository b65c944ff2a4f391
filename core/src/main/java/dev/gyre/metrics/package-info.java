/// What a loop tells about itself: counters that anyone may read and an observer that hears of
/// trouble.
@NullMarked
package dev.gyre.metrics;

import org.jspecify.annotations.NullMarked;
