/// Benchmarks of Gyre, compared with other implementations and with the bare system call.
/// `bench/README.md` describes method and results.
@NullMarked
package dev.gyre.bench;

import org.jspecify.annotations.NullMarked;
