/// A world without a clock, a port or luck: loops run in it on simulated time, over a simulated kernel, and
/// the same seed gives the same run.
@NullMarked
package dev.gyre.testkit;

import org.jspecify.annotations.NullMarked;
