/// Benchmarks of promises, compared with the futures of the JDK and of Netty.
@NullMarked
package dev.gyre.bench.promises;

import org.jspecify.annotations.NullMarked;
