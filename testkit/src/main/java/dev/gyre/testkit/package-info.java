/// Simulated worlds for tests: loops run in simulated time over a simulated kernel. The same seed
/// gives the same run.
@NullMarked
package dev.gyre.testkit;

import org.jspecify.annotations.NullMarked;
