/// The event loop, its configuration and its errors: everything a program needs to run
/// callbacks on one thread.
@NullMarked
package dev.gyre;

import org.jspecify.annotations.NullMarked;
