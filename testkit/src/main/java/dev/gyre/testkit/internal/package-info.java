/// The simulated kernel and the backend over it.
@NullMarked
package dev.gyre.testkit.internal;

import org.jspecify.annotations.NullMarked;
