/// Programs that transfer bytes, and tables of their cost. `bench/streams` runs them.
@NullMarked
package dev.gyre.bench.streams;

import org.jspecify.annotations.NullMarked;
