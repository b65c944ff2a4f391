/// Programs that move bytes, and tables of what that costs them. `bench/streams` runs them.
@NullMarked
package dev.gyre.bench.streams;

import org.jspecify.annotations.NullMarked;
