/// The parts of `gyre serve`: its loops, the demo site, and metrics.
@NullMarked
package dev.gyre.cli.serve;

import org.jspecify.annotations.NullMarked;
