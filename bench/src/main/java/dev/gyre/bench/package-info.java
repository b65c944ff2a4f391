/// What Gyre costs, beside its peers and beside the bare system call. `bench/README.md` tells how
/// to run it and how to read it.
@NullMarked
package dev.gyre.bench;

import org.jspecify.annotations.NullMarked;
