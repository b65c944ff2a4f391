/// Echo servers of one shape, to be compared by what a message costs them. `bench/echo` runs them.
@NullMarked
package dev.gyre.bench.echo;

import org.jspecify.annotations.NullMarked;
