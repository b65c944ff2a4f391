/// Echo servers, compared by CPU time per message. `bench/echo` runs them.
@NullMarked
package dev.gyre.bench.echo;

import org.jspecify.annotations.NullMarked;
